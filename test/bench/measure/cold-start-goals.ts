import { leastOf } from "../bench.ts";
import { spread } from "../format.ts";
import { goals } from "../goals.ts";
import type { Section, Standing, Target } from "../section.ts";
import { ratio, summary } from "../statistics.ts";
import type { Subject } from "../subjects.ts";

/** Whether each entry starts soon enough in one place, and how it stands there. */
export const judge = (
  { name: at, label: where }: { readonly name: string; readonly label: string },
  measured: readonly Subject[],
  of: (name: string) => readonly number[],
): Required<Pick<Section, "targets" | "standings">> => {
  const targets: Target[] = [];
  const standings: Standing[] = [];
  const peers = measured.filter(({ peer }) => peer);
  const time = ({ name }: Subject) => summary(of(name)).median;
  const fastest = leastOf(peers, time);
  for (const { entry, client, floor, floorLabel, coldStart, behind } of goals) {
    const goal = (rule: string, times: ReturnType<typeof ratio>, met: boolean, whose = "") =>
      targets.push({ goal: `${where}: ${entry} ${rule}`, measured: spread(times) + whose, met });
    const most = coldStart[at];
    if (most) {
      const times = ratio(of(client), of(floor));
      goal(`takes at most ${most} x ${floorLabel}`, times, times.median <= most);
    }
    const excepted = peers.filter(({ name }) => name in behind);
    const rival = leastOf(
      peers.filter(({ name }) => !(name in behind)),
      time,
    );
    if (rival) {
      const times = ratio(of(client), of(rival.name));
      const which = excepted.length > 0 ? "every other peer" : "every peer";
      goal(`is ahead of ${which} that runs there`, times, times.median < 1, ` of ${rival.label}`);
    }
    for (const { name, label } of excepted) {
      const limit = behind[name] ?? 1;
      const times = ratio(of(client), of(name));
      goal(`takes at most ${limit} x ${label}`, times, times.median <= limit);
    }
    if (!fastest) continue;
    const ahead = ratio(of(fastest.name), of(client)).median;
    standings.push({
      entry,
      what: "from nothing to the first call",
      where,
      other: fastest.label,
      ahead,
    });
  }
  return { targets, standings };
};

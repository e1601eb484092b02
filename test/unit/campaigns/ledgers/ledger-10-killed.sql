-- A ledger of version 10, made by openCampaign of commit d44b92cc, whose process was killed.
CREATE TABLE outdial_fact (name text primary key, value) without rowid;
insert into outdial_fact values ('id', 'b34a2c33ca0b05e8');
insert into outdial_fact values ('identity', 'bd921c5b35ac0f1a332ac160843ad6a5918498861cee0c9d4dc43935e6d8ebe9');
insert into outdial_fact values ('last_claim', 1780480800010);
insert into outdial_fact values ('lists', 1);
insert into outdial_fact values ('open', 1);
insert into outdial_fact values ('state', 'running');
insert into outdial_fact values ('version', 10);
CREATE TABLE outdial_contact (
    contact integer primary key,
    to_number text not null unique,
    id text,
    timezone text not null,
    variables text,
    line integer not null,
    list integer not null,
    listed integer not null default 1,
    added integer not null,
    state text not null,
    outcome text,
    reason text,
    attempts integer not null default 0,
    deferrals integer not null default 0,
    due integer not null default 0,
    wait integer not null default 0,
    call_id text
  , written text, call_at integer, call_for integer not null default 0, call_backs integer not null default 0, from_number text);
insert into outdial_contact values (1, '+12025550000', 'c0', '', null, 1, 1, 1, 1780480800000, 'completed', 'completed', 'normal', 1, 0, 1780480800030, 0, 'cs_0', null, null, 0, 0, '+12025550199');
insert into outdial_contact values (2, '+12025550001', 'c1', '', null, 2, 1, 1, 1780480800000, 'waiting', 'busy', 'busy', 1, 0, 1780480860030, 60000, 'cs_1', null, null, 0, 0, '+12025550199');
insert into outdial_contact values (3, '+12025550002', 'c2', '', null, 3, 1, 1, 1780480800000, 'unreachable', 'unreachable', 'unreachable', 1, 0, 1780480800030, 0, 'cs_2', null, null, 0, 0, '+12025550199');
insert into outdial_contact values (4, '+12025550003', 'c3', '', null, 4, 1, 1, 1780480800000, 'unclear', null, null, 1, 0, 0, 0, null, null, null, 0, 0, '+12025550199');
insert into outdial_contact values (5, '+12025550004', 'c4', '', null, 5, 1, 1, 1780480800000, 'calling', null, null, 1, 0, 0, 0, null, null, null, 0, 0, '+12025550199');
insert into outdial_contact values (6, '+12025550005', 'c5', '', null, 6, 1, 1, 1780480800000, 'calling', null, null, 1, 0, 0, 0, 'cs_5', null, null, 0, 0, '+12025550199');
insert into outdial_contact values (7, '+12025550006', 'c6', '', null, 7, 1, 1, 1780480800000, 'blocked', null, 'blocked', 0, 0, 1780480800000, 0, null, null, null, 0, 0, null);
insert into outdial_contact values (8, '+12025550007', 'c7', '', null, 8, 1, 1, 1780480800000, 'calling', null, null, 1, 0, 0, 0, 'cs_6', null, null, 0, 0, '+12025550199');
CREATE TABLE outdial_zone (timezone text primary key) without rowid;
insert into outdial_zone values ('');
CREATE TABLE outdial_attempt (
    contact integer not null,
    attempt integer not null,
    state text not null,
    claimed integer not null,
    settle_by integer not null,
    ended integer,
    duration integer,
    detail text, answered_by text, person integer not null default 0, message integer not null default 0, failed integer not null default 0, poll_at integer, polls integer not null default 0, cost text, currency text, post text, answered integer, failure text, ended_as text, end_reason text, answerer text, idempotency_key text, signed integer, body text,
    primary key (contact, attempt)
  ) without rowid;
insert into outdial_attempt values (1, 1, 'settled', 1780480800000, 1780481400000, 1780480800030, null, null, null, 0, 0, 0, null, 0, null, null, 'placed', null, null, 'completed', 'normal', 'person', null, null, null);
insert into outdial_attempt values (2, 1, 'settled', 1780480800010, 1780481400010, 1780480800030, null, null, null, 0, 0, 0, null, 0, null, null, 'placed', null, null, 'busy', 'busy', null, null, null, null);
insert into outdial_attempt values (3, 1, 'settled', 1780480800010, 1780481400010, 1780480800030, null, null, null, 0, 0, 0, null, 0, null, null, 'placed', null, null, 'unreachable', 'unreachable', null, null, null, null);
insert into outdial_attempt values (4, 1, 'claimed', 1780480800010, 1780481400010, null, null, 'create threw an error of its own', null, 0, 0, 0, null, 0, null, null, 'maybe', null, null, null, null, null, null, null, null);
insert into outdial_attempt values (5, 1, 'claimed', 1780480800010, 1780481400010, null, null, null, null, 0, 0, 0, null, 0, null, null, null, null, null, null, null, null, null, null, null);
insert into outdial_attempt values (6, 1, 'placed', 1780480800010, 1780481400010, null, null, null, null, 0, 0, 0, null, 0, null, null, 'placed', null, null, null, null, null, null, null, null);
insert into outdial_attempt values (8, 1, 'placed', 1780480800010, 1780481400010, null, null, null, null, 0, 0, 0, null, 0, null, null, 'placed', null, null, null, null, null, null, null, null);
CREATE TABLE outdial_blocked (to_number text primary key) without rowid;
insert into outdial_blocked values ('+12025550006');
CREATE TABLE outdial_audit (
    entry integer primary key,
    at integer not null,
    contact integer,
    attempt integer,
    event text not null,
    detail text
  );
insert into outdial_audit values (1, 1780480800000, null, null, 'opened', null);
insert into outdial_audit values (2, 1780480800000, 7, null, 'blocked', null);
insert into outdial_audit values (3, 1780480800000, 7, null, 'blocked', 'blocked');
insert into outdial_audit values (4, 1780480800000, 1, 1, 'claimed', null);
insert into outdial_audit values (5, 1780480800000, 1, 1, 'placed', 'cs_0');
insert into outdial_audit values (6, 1780480800010, 2, 1, 'claimed', null);
insert into outdial_audit values (7, 1780480800010, 3, 1, 'claimed', null);
insert into outdial_audit values (8, 1780480800010, 4, 1, 'claimed', null);
insert into outdial_audit values (9, 1780480800010, 5, 1, 'claimed', null);
insert into outdial_audit values (10, 1780480800010, 6, 1, 'claimed', null);
insert into outdial_audit values (11, 1780480800010, 8, 1, 'claimed', null);
insert into outdial_audit values (12, 1780480800010, 2, 1, 'placed', 'cs_1');
insert into outdial_audit values (13, 1780480800010, 3, 1, 'placed', 'cs_2');
insert into outdial_audit values (14, 1780480800010, 4, 1, 'maybe', 'create threw an error of its own');
insert into outdial_audit values (15, 1780480800010, 6, 1, 'placed', 'cs_5');
insert into outdial_audit values (16, 1780480800010, 8, 1, 'placed', 'cs_6');
insert into outdial_audit values (17, 1780480800030, 1, 1, 'completed', 'normal');
insert into outdial_audit values (18, 1780480800030, 2, 1, 'waiting', 'busy');
insert into outdial_audit values (19, 1780480800030, 3, 1, 'unreachable', 'unreachable');
CREATE TABLE outdial_tally (state text primary key, contacts integer not null) without rowid;
insert into outdial_tally values ('blocked', 1);
insert into outdial_tally values ('calling', 3);
insert into outdial_tally values ('completed', 1);
insert into outdial_tally values ('unclear', 1);
insert into outdial_tally values ('unreachable', 1);
insert into outdial_tally values ('waiting', 1);
CREATE TABLE outdial_erasure_secret (digest text primary key) without rowid;
CREATE TABLE outdial_answer (
      contact integer not null,
      attempt integer not null,
      name text not null,
      value text not null,
      at integer not null,
      primary key (contact, attempt, name)
    ) without rowid;
CREATE TABLE outdial_answer_name
     (place integer primary key, name text not null unique, at integer not null);
CREATE TABLE outdial_recording (
      contact integer not null,
      attempt integer not null,
      recording_id text not null,
      name text,
      at integer not null,
      primary key (contact, attempt, recording_id)
    ) without rowid;
insert into outdial_recording values (1, 1, 'rec_0', 'complaint', 1780480800030);
insert into outdial_recording values (8, 1, 'rec_6', null, 1780480800030);
CREATE INDEX outdial_due on outdial_contact (timezone, due) where state = 'waiting';
CREATE INDEX outdial_open on outdial_attempt (settle_by) where state <> 'settled';
CREATE TRIGGER outdial_count after update of state on outdial_contact
   when old.state <> new.state begin
     update outdial_tally set contacts = contacts - 1 where state = old.state;
     insert into outdial_tally values (new.state, 1)
       on conflict (state) do update set contacts = contacts + 1;
   end;
CREATE INDEX outdial_call_back on outdial_contact (timezone, due)
     where state = 'waiting' and call_for > attempts;
CREATE INDEX outdial_poll on outdial_attempt (poll_at) where poll_at is not null;

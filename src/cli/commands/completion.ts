import {
  type Command,
  defineCommand,
  type Entry,
  exits,
  suggestion,
  UsageError,
} from "../command.ts";

/** An option, as far as a shell completes it. */
interface Option {
  readonly name: string;
  readonly help: string;
  readonly takesValue: boolean;
  readonly values: readonly string[];
}

/** A command, as far as a shell completes it. */
interface Completed {
  readonly name: string;
  readonly summary: string;
  /** The values of its first argument; without them, files are completed. */
  readonly values: readonly string[];
  readonly options: readonly Option[];
}

/** What every command takes. */
const helpOption: Option = {
  name: "help",
  help: "explains the command",
  takesValue: false,
  values: [],
};

/** Every command, out of the tables that its help is made from. */
const completed = async (
  commands: Readonly<Record<string, Entry>>,
): Promise<readonly Completed[]> => {
  const names = Object.keys(commands);
  const all = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]): Promise<Completed> => {
      const { flags, choices = [] } = (await load()).command;
      const options = Object.entries(flags).map(
        ([flag, { type, help, choices: values = [] }]): Option => ({
          name: flag,
          help,
          takesValue: type === "string",
          values,
        }),
      );
      return { name, summary, values: choices, options: [helpOption, ...options] };
    }),
  );
  return [...all, { name: "help", summary: "Explains a command.", values: names, options: [] }];
};

/** A text between the single quotes of a POSIX shell. */
const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Words for bash, which knows no descriptions. */
const bash = (all: readonly Completed[]): string => {
  const valuesOf = ({ name, options }: Completed): readonly string[] =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ name: option, values }) => `    "${name} --${option}") words="${values.join(" ")}" ;;`,
      );
  return `# outdial completion bash: source it from ~/.bashrc
_outdial() {
  local command=\${COMP_WORDS[1]} current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=
  COMPREPLY=()
  # Bash makes three words of --on=deno.
  if [ "$current" = "=" ]; then
    current=
  elif [ "$before" = "=" ]; then
    before=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    case "$current" in
      -*) words="--help --version" ;;
      *) words="${all.map(({ name }) => name).join(" ")}" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$command $before" in
${all.flatMap(valuesOf).join("\n")}
    *)
      case "$command $current" in
${all
  .map(({ name, options }) => {
    const words = options.map((option) => `--${option.name}`);
    return `        "${name} -"*) words="${words.join(" ")}" ;;`;
  })
  .join("\n")}
${all
  .filter(({ values }) => values.length > 0)
  .map(({ name, values }) => `        "${name} "*) words="${values.join(" ")}" ;;`)
  .join("\n")}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
# Where no word is known, files are completed.
complete -o default -F _outdial outdial`;
};

/** An item of zsh's \`_describe\`, or the text of an option of its \`_arguments\`. */
const zshText = (text: string): string => text.replace(/[[\]:\\]/g, "\\$&");

const zsh = (all: readonly Completed[]): string => {
  const action = (values: readonly string[]): string =>
    values.length > 0 ? `(${values.join(" ")})` : "_files";
  const option = ({ name, help, takesValue, values }: Option): string =>
    single(
      `*--${name}${takesValue ? "=" : ""}[${zshText(help)}]${takesValue ? `:value:${action(values)}` : ""}`,
    );
  return `#compdef outdial
# outdial completion zsh: source it from ~/.zshrc after compinit, or keep it as _outdial in a folder of $fpath
_outdial() {
  local -a commands=(
${all.map(({ name, summary }) => `    ${single(`${name}:${zshText(summary)}`)}`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    if [[ $words[2] == -* ]]; then
      _arguments '--help[lists the commands]' '--version[prints the version]'
    else
      _describe command commands
    fi
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${all
  .map(({ name, options, values }) => {
    const lines = [...options.map(option), `'*:argument:${action(values)}'`];
    return `    ${name}) _arguments ${lines.join(" \\\n      ")} ;;`;
  })
  .join("\n")}
  esac
}
if [ "$funcstack[1]" = _outdial ]; then
  _outdial "$@"
elif (( $+functions[compdef] )); then
  compdef _outdial outdial
else
  print -u2 "outdial completion: put this line below compinit"
fi`;
};

/** A text between the single quotes of fish. */
const fishText = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

const fish = (all: readonly Completed[]): string => {
  const lines = all.flatMap(({ name, summary, options, values }) => {
    const inside = `complete -c outdial -n '__outdial_in ${name}'`;
    return [
      `complete -c outdial -n '__outdial_in ""' -f -a ${name} -d ${fishText(summary)}`,
      ...(values.length > 0 ? [`${inside} -f -a '${values.join(" ")}'`] : []),
      ...options.map(({ name: option, help, takesValue, values: known }) => {
        const value = known.length > 0 ? ` -x -a '${known.join(" ")}'` : takesValue ? " -r" : "";
        return `${inside} -l ${option}${value} -d ${fishText(help)}`;
      }),
    ];
  });
  return `# outdial completion fish: outdial completion fish | source
# The command is the word after outdial, and no later one: \`outdial help init\` is not init.
function __outdial_in
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
complete -c outdial -n '__outdial_in ""' -l help -d 'lists the commands'
complete -c outdial -n '__outdial_in ""' -l version -d 'prints the version'
${lines.join("\n")}`;
};

const shells: Readonly<Record<string, (all: readonly Completed[]) => string>> = {
  bash,
  zsh,
  fish,
};

/** `outdial completion`: a script for a shell. */
export const command: Command = defineCommand({
  args: ["shell"],
  choices: Object.keys(shells),
  flags: {},
  example: "completion bash > ~/.local/share/bash-completion/completions/outdial",
  notes: [
    `In ~/.bashrc:                  source <(outdial completion bash)
In ~/.zshrc, after compinit:   source <(outdial completion zsh)
In ~/.config/fish/config.fish: outdial completion fish | source`,
  ],
  exits: { 0: "the script is printed", 2: "the shell is unknown" },
  run: async ({ args: [name = ""], terminal, commands }) => {
    const script = Object.hasOwn(shells, name) ? shells[name] : undefined;
    if (!script) {
      const names = Object.keys(shells);
      throw new UsageError(`the shell must be ${names.join(", ")}${suggestion(name, names)}`);
    }
    await terminal.print(script(await completed(commands)));
    return exits.done;
  },
});

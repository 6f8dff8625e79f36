// One errand of the chaos run: some alerts, a question, the end of the last alert, and again as often as its input says.
import {
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  notify,
  textInput,
  type NodeContext,
} from "holdpoint";

interface Input {
  /** Number of the run: part of every name. */
  readonly run: number;
  /** One of the teams, which are audiences. */
  readonly audience: string;
  readonly questions: number;
  readonly alerts: number;
}
type Context = NodeContext<Input>;

const choices = defineHumanChoices({
  approve: choice({ label: "Approve", style: "success" }),
  change: choice({ label: "Change", input: textInput({ name: "how", prompt: "How?" }) }),
  stop: choice({ label: "Stop", style: "danger" }),
});

/** A question has one audience for ever, so there is one node for each. */
type Team = `team-${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12}`;
type Asking = `ask-${Team}`;
const TEAMS = Array.from({ length: 12 }, (_, at) => `team-${at + 1}` as Team);
const askOf = (team: Team): Asking => `ask-${team}`;

const alertNo = ({ outputs }: Context): number => outputs["tick"]?.n ?? 0;
const questionNo = ({ outputs }: Context): number => (outputs["answered"]?.n ?? 0) + 1;

function ask(audience: string) {
  return humanDecision({
    audience,
    choices,
    request: (context: Context) => ({
      title: `Q${context.input.run}-${questionNo(context)}: shall it go on?`,
      subject: { question: questionNo(context) },
      presentation: { summary: "Somebody has to say", blocks: [] },
    }),
  });
}

const asks = Object.fromEntries(TEAMS.map((team) => [askOf(team), ask(team)])) as Record<
  Asking,
  ReturnType<typeof ask>
>;

export default defineWorkflow({
  name: "errand",
  input: (given) => given as Input,
  title: ({ input }) => `errand ${input.run}`,
  startAt: "tick",
  maxSteps: 2_000,
  nodes: {
    tick: compute({ run: (context: Context) => ({ n: alertNo(context) + 1 }) }),
    tell: notify({
      kind: "progress",
      severity: "warning",
      audience: ({ input }) => input.audience,
      groupKey: (context) => `alert-${alertNo(context)}`,
      message: (context) => `A${context.input.run}-${alertNo(context)}: it burns`,
    }),
    more: compute({ run: (context: Context) => ({ again: alertNo(context) % context.input.alerts !== 0 }) }),
    who: compute({ run: ({ input }: Context) => ({ team: input.audience }) }),
    ...asks,
    answered: compute({
      run: (context: Context) => ({ n: questionNo(context), again: questionNo(context) < context.input.questions }),
    }),
    over: notify({
      kind: "final",
      audience: ({ input }) => input.audience,
      groupKey: (context) => `alert-${alertNo(context)}`,
      message: (context) => `A${context.input.run}-${alertNo(context)}: it is out`,
    }),
    next: compute({ run: ({ outputs }: Context) => ({ again: outputs["answered"].again as boolean }) }),
    end: compute({ run: () => "done" }),
  },
  edges: [
    { from: "tick", to: "tell" },
    { from: "tell", to: "more" },
    { from: "more", switch: { on: "$.again", cases: { true: "tick", false: "who" } } },
    {
      from: "who",
      switch: {
        on: "$.team",
        cases: Object.fromEntries(TEAMS.map((team) => [team, askOf(team)])) as Record<Team, Asking>,
      },
    },
    ...TEAMS.map((team) =>
      humanDecisionEdge({
        from: askOf(team),
        choices,
        cases: { approve: "answered", change: "answered", stop: "answered" },
      }),
    ),
    { from: "answered", to: "over" },
    { from: "over", to: "next" },
    { from: "next", switch: { on: "$.again", cases: { true: "tick", false: "end" } } },
  ],
});

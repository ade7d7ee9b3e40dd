import type { Event, EventOf } from "../../src/core/events.ts";
import type { FieldEdit } from "../../src/core/review/story-review.ts";
import type { Ports, Stories } from "../../src/engine/ports.ts";
import { onAppend, withList } from "./mutant-log.ts";
import type { Mutant } from "./simulate.ts";

/** Bugs planted in the review cycle. */
export const STORY_MUTANTS: readonly Mutant[] = (
  [
    {
      name: "illegal edits are not undone",
      ports: (ports) => withList(ports, () => ({ putBack: () => Promise.resolve([]) })),
    },
    {
      name: "what an agent wrote into its story stays, though it does not count",
      ports: (ports) => onSettled(ports, (settled) => (settled.from === settled.to ? [] : [settled])),
    },
    {
      name: "the cap of reviews is ignored",
      settings: (settings) => ({ ...settings, reviewCap: (settings.reviewCap ?? 0) + 10 }),
    },
    {
      name: "an approval at the cap does not say so",
      ports: (ports) => onSettled(ports, (settled) => [without(settled, "notes")]),
    },
    {
      name: "reviews are not counted",
      ports: (ports) => onSettled(ports, (settled) => [without(settled, "reviewCount")]),
    },
    {
      name: "who works on a story approves it",
      ports: (ports) =>
        onSettled(ports, (settled) =>
          settled.from === null && settled.to === "needs_review" ? [approved(settled)] : [settled],
        ),
    },
    {
      name: "a story is written before it is recorded",
      ports: (ports) =>
        onAppend(ports, async (events) => {
          for (const event of events)
            if (event.type === "story.settled") await ports.source.stories?.edit(event.edits);
          return events;
        }),
    },
    {
      name: "what has to be written into a story is lost with the process",
      ports: (ports) => {
        const own: string[] = [];
        const remembering = onSettled(ports, (settled) => {
          own.push(JSON.stringify(settled.edits));
          return [settled];
        });
        return withStories(remembering, (stories) => ({
          edit: async (edits) => {
            const isOthers = (await isSettled(ports, edits)) && !own.includes(JSON.stringify(edits));
            if (!isOthers) await stories.edit(edits);
          },
        }));
      },
    },
  ] satisfies Mutant[]
).map((mutant) => ({ ...mutant, stories: true }));

function withStories(ports: Ports, change: (stories: Stories) => Partial<Stories>): Ports {
  const { stories } = ports.source;
  if (stories === undefined) return ports;
  return { ...ports, source: { ...ports.source, stories: { ...stories, ...change(stories) } } };
}

type Settled = EventOf<"story.settled">;

function onSettled(ports: Ports, change: (settled: Settled) => readonly Event[]): Ports {
  return onAppend(ports, (events) =>
    events.flatMap((event) => (event.type === "story.settled" ? change(event) : [event])),
  );
}

function without(settled: Settled, field: FieldEdit["field"]): Settled {
  return { ...settled, edits: settled.edits.filter((edit) => edit.field !== field) };
}

function approved(settled: Settled): Settled {
  const { task: story } = settled;
  const edits: readonly FieldEdit[] = [
    { story, field: "reviewStatus", value: "approved" },
    { story, field: "passes", value: true },
    { story, field: "notes", value: "done" },
  ];
  return { ...settled, to: "approved", edits };
}

/** Whether the log asks for just these edits. */
async function isSettled({ log }: Ports, edits: readonly FieldEdit[]): Promise<boolean> {
  const settled = await log.read(0, { types: ["story.settled"] });
  return settled.some(
    (event) => event.type === "story.settled" && JSON.stringify(event.edits) === JSON.stringify(edits),
  );
}

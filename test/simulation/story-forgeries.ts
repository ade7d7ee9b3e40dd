import type { AgentRequest } from "../../src/engine/ports.ts";
import { textOf, type RawStory } from "./story-file.ts";
import type { TaskTruth, World } from "./world.ts";

/** What somebody who does not keep to the rules makes of the file: null is no file; undefined where it does not apply. */
type Forgery = (scene: Scene) => string | null | undefined;

interface Scene {
  readonly world: World;
  readonly stories: readonly RawStory[];
  readonly own: RawStory;
  readonly others: readonly RawStory[];
  readonly stage: string;
}

const APPROVED = { passes: true, reviewStatus: "approved", notes: "fine" };

const FORGERIES: readonly Forgery[] = [
  // Without a review, or without counting it.
  (scene) => altered(scene, scene.own, APPROVED),
  (scene) => altered(scene, scene.own, { passes: true, notes: "done" }),
  (scene) => altered(scene, scene.own, { reviewCount: -1 }),
  (scene) => altered(scene, scene.own, { ...nextStep(scene), reviewCount: countOf(scene.own) + 3 }),
  (scene) => altered(scene, scene.own, { reviewCount: "many" }),
  (scene) => altered(scene, scene.own, { reviewStatus: "done" }),
  (scene) =>
    scene.stage === "implement" ? altered(scene, scene.own, { reviewFeedback: "nothing much" }) : undefined,
  (scene) => inReview(scene, { reviewStatus: "changes_requested", reviewFeedback: "" }),
  approveTwo,
  ({ others, ...scene }) => altered(scene, others[0], meddling(others[0])),
  ({ stories }) =>
    textOf(stories.map(({ id, title, dependsOn }) => ({ id, title, dependsOn, passes: true }))),
  bearPassing,
  ({ stories, others }) => (others[0] === undefined ? undefined : textOf(without(stories, others[0]))),
  ({ stories, own }) => textOf(without(stories, own)),
  ({ stories, own }) => textOf([...stories, own]),
  (scene) => altered(scene, scene.own, { title: "" }),
  ({ stories }) => textOf(stories).slice(0, -3),
  () => "[]",
  () => "",
  () => null,
];

/** Writes into the file what no iteration may write. */
export function forge(world: World, truth: TaskTruth, { iteration, stage }: AgentRequest): void {
  const file = world.stories;
  const stories = file?.raw();
  const own = stories?.find(({ id }) => id === truth.id);
  if (file == null || stories === undefined || own === undefined) return;
  const others = stories.filter((story) => story !== own);
  let text: string | null | undefined;
  while (text === undefined) text = world.random.pick(FORGERIES)({ world, stories, own, others, stage });
  file.scrawl(text);
  world.forgedIn.add(iteration);
}

/** Leaves out what means nothing: no story is changed by it, and the file must not lose its review cycle. */
export function tidyAway({ stories: file }: World): void {
  const stories = file?.raw() ?? [];
  const tidied = stories.map(({ reviewStatus, reviewCount, ...story }) =>
    reviewStatus == null && !reviewCount ? story : { ...story, reviewStatus, reviewCount },
  );
  if (stories.length > 0) file?.scrawl(textOf(tidied));
}

/** What even a run without reviews undoes. */
export function breakFile({ stories: file, random }: World): void {
  file?.scrawl(random.pick([null, "", "{"]));
}

function altered(
  { stories }: Pick<Scene, "stories">,
  story: RawStory | undefined,
  change: RawStory,
): string | undefined {
  if (story === undefined) return undefined;
  return textOf(stories.map((one) => (one === story ? { ...one, ...change } : one)));
}

function nextStep({ stage }: Pick<Scene, "stage">): RawStory {
  return stage === "review" ? APPROVED : { reviewStatus: "needs_review", reviewFeedback: "" };
}

function inReview(scene: Scene, change: RawStory): string | undefined {
  if (scene.stage !== "review") return undefined;
  return altered(scene, scene.own, { ...change, reviewCount: countOf(scene.own) + 1 });
}

function approveTwo({ stories, own, others, stage }: Scene): string | undefined {
  const other = others[0];
  if (stage !== "review" || other === undefined) return undefined;
  const approved = (story: RawStory): RawStory => ({
    ...story,
    ...APPROVED,
    reviewCount: countOf(story) + 1,
  });
  return textOf(stories.map((story) => (story === own || story === other ? approved(story) : story)));
}

/** Takes it wherever it is not. */
function meddling(story: RawStory | undefined): RawStory {
  return story?.["reviewStatus"] == null
    ? { reviewStatus: "needs_review" }
    : { reviewStatus: null, passes: false };
}

function bearPassing({ world }: Scene): string | undefined {
  if (world.tasks.length > 5) return undefined;
  const { id } = world.addTask("honest", 1, 0);
  const stories = world.stories?.raw() ?? [];
  return textOf(
    stories.map((story) => (story["id"] === id ? { ...story, ...APPROVED, reviewCount: 1 } : story)),
  );
}

function without(stories: readonly RawStory[], gone: RawStory): readonly RawStory[] {
  return stories.filter((story) => story !== gone);
}

function countOf({ reviewCount }: RawStory): number {
  return typeof reviewCount === "number" ? reviewCount : 0;
}

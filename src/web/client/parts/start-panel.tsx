import { useEffect, useId, useState } from "preact/hooks";
import type { Api, RunWish, Said } from "../../api.ts";
import { type Answer, post, type Problem } from "../api-client.ts";
import { count, dollars } from "../format.ts";
import { outcomeOf, toast } from "../toasts.tsx";
import { Trouble } from "./notices.tsx";

type Plan = Api["POST /api/plan"];

const AS_CONFIGURED: RunWish = {
  goal: null,
  tasks: [],
  agent: null,
  lanes: null,
  maxIterations: null,
  budgetUsd: null,
  approve: false,
};
/** Typing is not a wish yet. */
const TYPING_MS = 400;

/** What a run would do, and the button that starts it. */
export function StartPanel({ isFirst }: { readonly isFirst: boolean }) {
  const [isOpen, open] = useState(isFirst);
  const [wish, setWish] = useState(AS_CONFIGURED);
  const [again, setAgain] = useState(0);
  const { plan, problem } = usePlan(isOpen ? wish : null, again);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Problem | null>(null);
  if (!isOpen)
    return (
      <p class="start-closed">
        <button type="button" class="primary" onClick={() => open(true)}>
          Start a run…
        </button>
      </p>
    );
  const start = async (): Promise<void> => {
    setBusy(true);
    setRefusal(null);
    const answer = await post<Said>("/api/runs", wish);
    setBusy(false);
    if (answer.is === "problem") setRefusal(answer.problem);
    else toast(answer.value.said);
  };
  const trouble = refusal ?? problem;
  const todo = plan?.tasks.filter(({ done }) => !done).length ?? 0;
  return (
    <section class="panel start" aria-labelledby="start-title">
      <h2 id="start-title">
        Start a run {plan !== null && <span class="muted">of {plan.source}</span>}
        {!isFirst && (
          <button type="button" class="quiet small" onClick={() => open(false)}>
            Close
          </button>
        )}
      </h2>
      {trouble !== null && <Trouble problem={trouble} />}
      <form
        class="start-form"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <Wishes wish={wish} plan={plan} onWish={setWish} />
        <button type="submit" class="primary" disabled={isBusy || plan === null || todo === 0}>
          {isBusy ? "Starting…" : plan === null || todo === 0 ? "Start" : `Start ${count(todo, "task")}`}
        </button>
      </form>
      {plan !== null && <WhatWouldHappen plan={plan} />}
      {wish.goal === null && <AddTask onAdded={() => setAgain(again + 1)} />}
    </section>
  );
}

/** Asked anew when the wish changes; the last plan stays meanwhile. */
function usePlan(wish: RunWish | null, again: number) {
  const [known, setKnown] = useState<{ readonly plan: Plan | null; readonly problem: Problem | null }>({
    plan: null,
    problem: null,
  });
  const key = wish === null ? "" : JSON.stringify([wish, again]);
  useEffect(() => {
    if (wish === null) return undefined;
    let isOld = false;
    const timer = setTimeout(
      () => {
        void post<Plan>("/api/plan", wish).then((answer: Answer<Plan>) => {
          if (isOld) return;
          setKnown(
            answer.is === "ok"
              ? { plan: answer.value, problem: null }
              : { plan: null, problem: answer.problem },
          );
        });
      },
      known.plan === null && known.problem === null ? 0 : TYPING_MS,
    );
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [key]);
  return known;
}

interface WishesProps {
  readonly wish: RunWish;
  readonly plan: Plan | null;
  readonly onWish: (wish: RunWish) => void;
}

/** Empty fields are as the configuration says; what that is stands in them. */
function Wishes({ wish, plan, onWish }: WishesProps) {
  const set = (part: Partial<RunWish>): void => onWish({ ...wish, ...part });
  const number = (text: string): number | null => (/^\d+(?:\.\d+)?$/.test(text) ? Number(text) : null);
  const fields = [
    ["Lanes", "lanes", plan?.lanes, "1"],
    ["Iterations at most", "maxIterations", plan?.max_iterations, "1"],
    ["Budget in $", "budgetUsd", plan?.budget_usd ?? "none", "any"],
  ] as const;
  const id = useId();
  return (
    <>
      <label class="start-goal" for={`${id}-goal`}>
        Goal
        <input
          id={`${id}-goal`}
          value={wish.goal ?? ""}
          placeholder="the tasks below; or what you want, in words"
          onInput={({ currentTarget: { value } }) => set({ goal: value.trim() === "" ? null : value })}
        />
      </label>
      <label for={`${id}-agent`}>
        Agent
        <select
          id={`${id}-agent`}
          value={wish.agent ?? ""}
          onChange={({ currentTarget: { value } }) => set({ agent: value === "" ? null : value })}
        >
          <option value="">{wish.agent === null ? (plan?.agent ?? "as configured") : "as configured"}</option>
          {plan?.agentsKnown
            .filter((name) => name !== plan.agent || wish.agent !== null)
            .map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
        </select>
      </label>
      {fields.map(([label, field, configured, step]) => (
        <label key={field} for={`${id}-${field}`}>
          {label}
          <input
            id={`${id}-${field}`}
            type="number"
            min={field === "budgetUsd" ? 0 : 1}
            step={step}
            placeholder={String(configured ?? "")}
            onInput={({ currentTarget: { value } }) => set({ [field]: number(value) })}
          />
        </label>
      ))}
      <label class="start-check">
        <input
          type="checkbox"
          checked={wish.approve || plan?.approve === "person"}
          disabled={plan?.approve === "person" && !wish.approve}
          onChange={({ currentTarget: { checked } }) => set({ approve: checked })}
        />
        Accepted work waits for my approval
      </label>
    </>
  );
}

const TASKS_SHOWN = 40;

function WhatWouldHappen({ plan }: { readonly plan: Plan }) {
  const { agent, agents, gates, lanes, worktrees, budget_usd: budget, sandbox, tasks } = plan;
  const others = agents.filter((name) => name !== agent);
  const facts: readonly (readonly [name: string, value: string])[] = [
    ["Agent", others.length === 0 ? agent : `${agent}, then ${others.join(", ")}`],
    ["Lanes", `${lanes}, ${worktrees ? "in worktrees" : "in this checkout"}`],
    ["Iterations", `${plan.max_iterations} at most`],
    ["Budget", budget === null ? "none" : dollars(budget)],
    ["Sandbox", sandbox ?? "none"],
  ];
  const todo = tasks.filter(({ done }) => !done);
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name} class="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="start-gates">
        <span class="muted">Gates </span>
        {gates.length === 0 && "none: only git is checked"}
        {gates.map(({ name, command, required }) => (
          <span key={name}>
            {name}
            {name !== command && (
              <>
                {" "}
                <code>{command}</code>
              </>
            )}
            {!required && <span class="muted"> optional</span>}{" "}
          </span>
        ))}
      </p>
      <ul class="start-tasks">
        {todo.slice(0, TASKS_SHOWN).map(({ id, title }) => (
          <li key={id}>
            <span aria-hidden="true">· </span>
            <span class="card-id">{id}</span> {title}
          </li>
        ))}
      </ul>
      <p class="muted">
        {todo.length > TASKS_SHOWN && `${count(todo.length - TASKS_SHOWN, "more task")}. `}
        {tasks.length > todo.length && `${tasks.length - todo.length} done already.`}
        {todo.length === 0 && tasks.length === 0 && "The list has no tasks."}
      </p>
    </>
  );
}

/** A line for the list. */
export function AddTask({ onAdded }: { readonly onAdded?: () => void }) {
  const [title, setTitle] = useState("");
  return (
    <TitleForm
      label="Add a task to the list"
      button="Add"
      title={title}
      onTitle={setTitle}
      path="/api/tasks"
      onDone={() => {
        setTitle("");
        onAdded?.();
      }}
    />
  );
}

interface TitleFormProps {
  readonly label: string;
  readonly button: string;
  readonly title: string;
  readonly onTitle: (title: string) => void;
  readonly path: string;
  readonly onDone: () => void;
}

/** A title to write into the list, and why it cannot be written. */
export function TitleForm({ label, button, title, onTitle, path, onDone }: TitleFormProps) {
  const [refused, setRefused] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  const save = async (): Promise<void> => {
    setBusy(true);
    const { isGood, text } = outcomeOf(await post<Said>(path, { title }), ({ said }) => ({
      isGood: true,
      text: said,
    }));
    setBusy(false);
    setRefused(isGood ? null : text);
    if (!isGood) return;
    toast(text);
    onDone();
  };
  return (
    <>
      <form
        class="line-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label for={id} class="unseen">
          {label}
        </label>
        <input
          id={id}
          value={title}
          placeholder={label}
          onInput={({ currentTarget: { value } }) => onTitle(value)}
        />
        <button type="submit" disabled={isBusy || title.trim() === ""}>
          {button}
        </button>
      </form>
      {refused !== null && (
        <span class="outcome is-bad" role="alert">
          ✗ {refused}
        </span>
      )}
    </>
  );
}

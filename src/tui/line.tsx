import { Box, Text } from "ink";
import { createContext, type ReactNode, useContext } from "react";
import stringWidth from "string-width";
import type { Model } from "./model.ts";
import { plainLine } from "./plain-line.ts";

/** A stretch of text that looks the same; colour never tells something by itself. */
export type Part = string | { readonly text: string; readonly look: Look };

export type Look = "plain" | "bold" | "dim" | "good" | "bad" | "ask" | "selected" | "title";

export interface ViewProps {
  readonly model: Model;
  readonly rows: number;
}

/** What every part of the frame needs to know. */
export const Frame = createContext({ columns: 80, hasColours: true });

const LOOKS = {
  plain: {},
  bold: { bold: true },
  dim: { dimColor: true },
  good: { color: "green" },
  bad: { color: "red" },
  ask: { color: "yellow" },
  selected: { bold: true, inverse: true },
  title: { color: "cyan", bold: true },
} as const;

/** One row of the screen, cut at its right end. `end` stays there, whatever is cut. */
export function Line({ parts, end = [] }: { parts: readonly Part[]; end?: readonly Part[] }): ReactNode {
  if (end.length === 0) return <Parts parts={parts} />;
  return (
    <Box>
      <Box flexGrow={1} flexShrink={1} overflow="hidden">
        <Parts parts={parts} />
      </Box>
      <Box flexShrink={0}>
        <Parts parts={end} />
      </Box>
    </Box>
  );
}

function Parts({ parts }: { readonly parts: readonly Part[] }): ReactNode {
  const { hasColours } = useContext(Frame);
  return (
    <Text wrap="truncate-end">
      {parts.map((part, index) => {
        const { text, look } = typeof part === "string" ? { text: part, look: "plain" as const } : part;
        const style = hasColours ? LOOKS[look] : {};
        return (
          <Text key={index} {...style}>
            {plainLine(text)}
          </Text>
        );
      })}
    </Text>
  );
}

interface TitleProps {
  readonly name: string;
  readonly isFocused?: boolean;
  readonly look?: Look;
}

/** The rule above a panel; the sign says where keys go. */
export function Title({ name, isFocused = false, look = "title" }: TitleProps): ReactNode {
  const { columns } = useContext(Frame);
  const label = `${isFocused ? "▶" : "─"} ${plainLine(name)} `;
  const rule = "─".repeat(Math.max(0, columns - stringWidth(label)));
  return (
    <Line
      parts={[
        { text: label, look },
        { text: rule, look: "dim" },
      ]}
    />
  );
}

/** So many rows, whatever is in them. */
export function Panel({ rows, children }: { rows: number; children: ReactNode }): ReactNode {
  if (rows <= 0) return null;
  return (
    <Box flexDirection="column" height={rows} flexShrink={0} overflow="hidden">
      {children}
    </Box>
  );
}

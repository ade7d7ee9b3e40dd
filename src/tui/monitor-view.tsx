import { Box } from "ink";
import type { ReactNode } from "react";
import { BoardView } from "./board-view.tsx";
import { DialogView } from "./dialog-view.tsx";
import { FooterView } from "./footer-view.tsx";
import { HeaderView } from "./header-view.tsx";
import { HelpView } from "./help-view.tsx";
import { InboxView } from "./inbox-view.tsx";
import { LanesView } from "./lanes-view.tsx";
import { frameRows, isTooSmall, layoutOf, TOO_SMALL } from "./layout.ts";
import { Frame, Line } from "./line.tsx";
import { LogView } from "./log-view.tsx";
import type { Model } from "./model.ts";
import { PagerView } from "./pager-view.tsx";

/** The whole frame. */
export function MonitorView({
  model,
  hasColours,
}: {
  readonly model: Model;
  readonly hasColours: boolean;
}): ReactNode {
  return (
    <Frame value={{ columns: model.size.columns, hasColours }}>
      <Box flexDirection="column" width={model.size.columns} height={frameRows(model.size)} overflow="hidden">
        <Content model={model} />
      </Box>
    </Frame>
  );
}

function Content({ model }: { readonly model: Model }): ReactNode {
  if (isTooSmall(model)) return <Line parts={[TOO_SMALL]} />;
  if (model.mode.is === "pager") return <PagerView model={model} pager={model.mode.pager} />;
  if (model.mode.is === "help") return <HelpView model={model} />;
  const layout = layoutOf(model);
  return (
    <>
      <HeaderView model={model} rows={layout.header} />
      <InboxView model={model} rows={layout.inbox} />
      <BoardView model={model} rows={layout.board} />
      <LanesView model={model} rows={layout.lanes} />
      <DialogView model={model} rows={layout.dialog} />
      <LogView model={model} rows={layout.log} />
      <Box flexGrow={1} />
      <FooterView model={model} />
    </>
  );
}

import { useEffect, useRef } from "preact/hooks";
import { isHelpOpen } from "../shortcuts.ts";

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["?"], "this help"],
  [["g", "b"], "the board"],
  [["g", "r"], "runs"],
  [["g", "c"], "charts"],
  [["g", "i"], "the inbox"],
  [["/"], "the search or filter of a page"],
  [["Tab"], "everything, in order"],
  [["←", "→"], "move the time line"],
  [["+", "−", "0"], "zoom the time line; all of it"],
  [["↑", "↓"], "the span before or after; Enter opens its iteration"],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <h2 id="help-title">Keys</h2>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="legend-line">✔ accepted · continue ✗ rejected ! failed ? asks ■ blocked ▸ running</p>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}

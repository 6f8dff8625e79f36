/**
 * The widget above the editor and the status line. Redrawn from the last view: at each new one, and once a second while a run
 * is under way, because times go on. In the terminal it is a component, elsewhere lines.
 */
import { scrollBounds, widgetLines } from "../../../renderers/pi/index.ts";
import { pi as words } from "../../../renderers/text/en.ts";
import { PI_WIDGET } from "../../../src/contracts/limits.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import type { Life } from "./life.ts";
import type { PiComponent, PiTheme, PiTui } from "./pi-api.ts";

const KEY = "holdpoint";
/** Where no terminal tells its width. */
const COLUMNS = 100;

export class Widget {
  readonly #life: Life;
  #view: SessionView | undefined;
  /** The server's clock less ours. */
  #skewMs = 0;
  #live = true;
  #scroll = 0;
  #tui: PiTui | undefined;
  #tick: NodeJS.Timeout | undefined;
  #lines = "";

  constructor(life: Life) {
    this.#life = life;
  }

  /** The server's clock now, as far as it is known. */
  now(): number {
    return Date.now() + this.#skewMs;
  }

  show(view: SessionView): void {
    if (this.#view?.run?.summary.runId !== view.run?.summary.runId) this.#scroll = 0;
    this.#view = view;
    this.#skewMs = view.at - Date.now();
    this.#draw();
    this.#again();
  }

  /** Whether the server can be reached: what is shown may be old. */
  reachable(live: boolean): void {
    if (this.#live === live) return;
    this.#live = live;
    this.#draw();
  }

  scroll(rows: number): void {
    if (this.#view === undefined) return;
    const { least, most } = scrollBounds(this.#view);
    this.#scroll = Math.min(most, Math.max(least, this.#scroll + rows));
    this.#draw();
  }

  #again(): void {
    this.#life.cancel(this.#tick);
    const run = this.#view?.run;
    if (run === null || run === undefined || run.summary.finishedAt !== null) return;
    // A program at the other end of RPC is not told the time every second.
    if (this.#life.context?.mode !== "tui") return;
    this.#tick = this.#life.after(PI_WIDGET.tickMs, "widget", () => {
      this.#draw();
      this.#again();
    });
  }

  #draw(): void {
    const { context } = this.#life;
    const view = this.#view;
    if (context === undefined || view === undefined || !context.hasUI) return;
    const lines = this.#linesFor(COLUMNS);
    // Nothing is sent or redrawn that says the same.
    const key = JSON.stringify(lines);
    if (key === this.#lines) return;
    this.#lines = key;
    const pending = view.decisions.filter(({ state }) => state.status.kind === "pending").length;
    const summary = view.run?.summary;
    context.ui.setStatus(
      KEY,
      summary === undefined ? undefined : words.statusText(summary.status, summary.workflow, summary.shortId, pending),
    );
    if (lines.length === 0) {
      this.#tui = undefined;
      context.ui.setWidget(KEY, undefined);
    } else if (context.mode !== "tui") {
      context.ui.setWidget(KEY, lines);
    } else if (this.#tui === undefined) {
      context.ui.setWidget(KEY, (tui, theme) => this.#component(tui, theme));
    } else {
      this.#tui.requestRender();
    }
  }

  #component(tui: PiTui, theme: PiTheme): PiComponent {
    this.#tui = tui;
    return {
      render: (width) => {
        try {
          return this.#linesFor(width).map((line, index) => theme.fg(index === 0 ? "accent" : "muted", line));
        } catch {
          return [];
        }
      },
      invalidate: () => {},
    };
  }

  #linesFor(columns: number): string[] {
    const view = this.#view;
    if (view === undefined || this.#life.over) return [];
    return widgetLines(view, { columns, now: this.now(), scroll: this.#scroll, live: this.#live });
  }
}

/** Lists in pages: the button that asks for the next one. */
import type { Pressable } from "./answer.ts";

export type PagedList = "decisions" | "runs" | "problems" | "alerts" | "monitors";

/** The button for what comes after the first `seen` of `total`, if anything does. */
export function moreButton(list: PagedList, seen: number, total: number): Pressable[][] {
  return seen < total ? [[{ action: "more", item: -1, target: `${list}:${seen}` }]] : [];
}

export function moreAfter(list: PagedList, seen: number, total: number): { buttons?: Pressable[][] } {
  const buttons = moreButton(list, seen, total);
  return buttons.length === 0 ? {} : { buttons };
}

/** What such a button asks for. */
export function pageOf(target: string): { readonly list: string; readonly from: number } {
  const [list = "", from = "0"] = target.split(":");
  return { list, from: Number(from) };
}

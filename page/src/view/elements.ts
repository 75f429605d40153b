/** The page's elements by name, and new ones. Texts are always texts: a level named like a tag stays a name. */

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found as T;
}

type Child = Node | string;

/** Return an element with a class and children. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, name = "", ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

export function button(text: string, press: () => void, name = ""): HTMLButtonElement {
  const element = make("button", name, text);
  element.type = "button";
  element.addEventListener("click", press);
  return element;
}

/** Set a text only if it changed, so that nothing is laid out for nothing. */
export function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

let fading = 0;

/** Say something for a few seconds at the foot of the page; if it must not be missed, until the reader does something. */
export function toast(text: string, stays = false): void {
  const element = byId("toast");
  element.textContent = text;
  element.classList.add("on");
  window.clearTimeout(fading);
  const fade = (): void => {
    window.clearTimeout(fading);
    fading = window.setTimeout(() => element.classList.remove("on"), 4000);
  };
  if (!stays) return fade();
  for (const act of ["pointerdown", "keydown"]) document.addEventListener(act, fade, { once: true });
}

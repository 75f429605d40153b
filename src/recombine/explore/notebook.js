// A widget that shows PAGE, the page as text, in a frame of its own, so that neither its style nor the notebook's reaches
// the other. Python puts PAGE before this.

// A table too large for a link stays with whoever has it: here the widget has.
function sceneOf(model) {
  const now = new URLSearchParams(model.get("scene"));
  const first = new URLSearchParams(model.get("table"));
  const same = !now.has("p") && ["t", "f", "s"].every((part) => now.get(part) === first.get(part));
  if (same && !now.has("v")) now.set("v", first.get("v"));
  return now.toString();
}

function render({ model, el }) {
  const address = URL.createObjectURL(new Blob([PAGE], { type: "text/html" }));
  const frame = document.createElement("iframe");
  frame.title = "Paint what was seen, watch what follows";
  frame.style.cssText = "box-sizing:border-box;width:100%;border:1px solid rgba(128,128,128,.4);resize:vertical;overflow:auto";
  frame.src = `${address}#${sceneOf(model)}`;
  let heard = model.get("scene");
  const hear = (event) => {
    if (event.source !== frame.contentWindow || typeof event.data?.scene !== "string") return;
    heard = event.data.scene;
    model.set("scene", heard);
    model.save_changes();
  };
  const show = () => {
    if (model.get("scene") !== heard) frame.contentWindow.location.replace(`${address}#${sceneOf(model)}`);
    heard = model.get("scene");
  };
  const size = () => {
    frame.style.height = `${model.get("height")}px`;
  };
  size();
  window.addEventListener("message", hear);
  model.on("change:scene", show);
  model.on("change:height", size);
  el.append(frame);
  return () => {
    window.removeEventListener("message", hear);
    model.off("change:scene", show);
    model.off("change:height", size);
    URL.revokeObjectURL(address);
  };
}

export default { render };

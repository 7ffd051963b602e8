// A frame with the studio's page, between which and the kernel messages go to and fro: docs/studio.md, "In a frame".

function render({ model, el }) {
  const view = Math.random().toString(36).slice(2); // a widget may be shown in several cells
  const frame = document.createElement("iframe");
  frame.title = "qkv";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.style.cssText = `width:100%;height:${model.get("height")}px;border:0`;
  el.append(frame);
  let told = null; // where the page says that it is

  const toPage = (message) => frame.contentWindow?.postMessage({ qkv: message }, "*");
  const ofPage = (event) => {
    const message = event.source === frame.contentWindow ? event.data?.qkv : undefined;
    if (message === undefined) return;
    if (message.address === undefined) return model.send({ view, ...message });
    told = message.address;
    model.set("address", told);
    model.save_changes();
  };
  const ofKernel = ({ view: whose, page, ...message }, buffers) => {
    if (whose !== view) return;
    if (page !== undefined) return open(page);
    const [frames] = buffers ?? [];
    const bytes = frames && new Uint8Array(frames.buffer ?? frames, frames.byteOffset ?? 0, frames.byteLength).slice();
    toPage(bytes ? { ...message, bytes } : message);
  };
  // The page writes its address, which about:srcdoc does not allow: the frame goes on to a blob of its own.
  const open = (page) => {
    const bytes = new TextEncoder().encode(page);
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    frame.srcdoc =
      `<script>const bytes = Uint8Array.from(atob("${btoa(text)}"), (c) => c.charCodeAt(0));` +
      'location.replace(URL.createObjectURL(new Blob([bytes], { type: "text/html;charset=utf-8" })));</script>';
  };
  const go = () => {
    const address = model.get("address");
    if (address !== told) toPage({ address });
  };

  window.addEventListener("message", ofPage);
  model.on("msg:custom", ofKernel);
  model.on("change:address", go);
  model.send({ view, open: true });
  return () => {
    window.removeEventListener("message", ofPage);
    model.off("msg:custom", ofKernel);
    model.off("change:address", go);
    model.send({ view, closed: true });
  };
}

export default { render };

/** The page opens by itself, unless a host that has a table of its own decides when, and with what. */

import { openPage } from "./app.ts";

declare global {
  interface Window {
    recombineHost?: (open: typeof openPage) => void;
  }
}

if (window.recombineHost) window.recombineHost(openPage);
else openPage();

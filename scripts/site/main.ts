// `npm run site`: the documentation as a folder of pages that a browser opens without a server or a network.
import { join } from "node:path";
import { buildSite } from "./build-site.ts";

const root = join(import.meta.dirname, "..", "..");
const folder = join(root, "site");
const pages = buildSite(root, folder);
console.log(`site: ${pages} pages; open ${join(folder, "index.html")}`);

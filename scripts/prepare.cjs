// npm runs this after `npm ci`, but also where there is nothing to build with: with --package-lock-only, or with
// --omit=dev on a machine with an old Node.
var fs = require("fs");
var path = require("path");

var canBuild = fs.existsSync(path.join(__dirname, "..", "node_modules", "rolldown"));
if (canBuild && process.features.typescript) void import("./build.ts");

// Old syntax on purpose: an old Node must be able to read this file to say that it is too old. The check comes
// before any import, because the binaries of better-sqlite3 need Node-API 10 and crash without it.
var version = process.versions.node.split(".").map(Number);

if (process.platform === "win32") {
  console.error("ralph: does not run on Windows itself; install and run it in WSL (wsl --install)");
  process.exitCode = 64;
} else if (
  Number(process.versions.napi) >= 10 &&
  (version[0] > 22 || (version[0] === 22 && version[1] >= 14))
) {
  var at = Number(process.env.RALPH_SECRETS_AT);
  delete process.env.RALPH_SECRETS_AT;
  if (at > 2) {
    var fs = require("fs");
    fs.readFileSync(at, "utf8")
      .split("\n")
      .forEach(function (line) {
        var end = line.indexOf("=");
        if (end > 0 && end < line.length - 1) process.env[line.slice(0, end)] = line.slice(end + 1);
      });
    fs.closeSync(at);
  }
  var main = require("path").join(__dirname, "../dist/main.js");
  // Old parsers do not know import(), hence the Function.
  new Function("url", "return import(url)")(require("url").pathToFileURL(main).href);
} else {
  console.error("ralph: needs Node.js 22.14 or newer; " + process.execPath + " is " + process.version);
  process.exitCode = 64;
}

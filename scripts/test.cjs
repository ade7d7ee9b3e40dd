// `npm test`: makes a fresh clone ready, then runs `npm run check`. Old syntax on purpose: it starts on whatever
// Node the machine has.
var childProcess = require("child_process");
var fs = require("fs");
var path = require("path");

var root = path.join(__dirname, "..");

var debianPackages = [
  { name: "git", command: "git", reason: "tests work on real repositories" },
  { name: "procps", command: "ps", reason: "tests look for left-over processes" },
  { name: "bubblewrap", command: "bwrap", reason: "tests run agents in a real sandbox" },
  { name: "tmux", command: "tmux", reason: "tests look at the monitor in a real terminal" },
  { name: "chromium", command: "chromium", reason: "tests look at the page in a real browser" },
];

installDebianPackages();
if (!dependenciesAreFresh()) run("npm", ["ci", "--include=dev"]);
run(findNode(), [path.join("scripts", "check.ts")]);

function installDebianPackages() {
  var missing = debianPackages.filter(function (item) {
    return childProcess.spawnSync("sh", ["-c", "command -v " + item.command]).status !== 0;
  });
  if (missing.length === 0) return;
  var names = missing.map(function (item) {
    return item.name;
  });
  var isRoot = process.getuid && process.getuid() === 0;
  if (!isRoot || childProcess.spawnSync("apt-get", ["--version"]).status !== 0) {
    var reasons = missing.map(function (item) {
      return item.name + " (" + item.reason + ")";
    });
    fail("please install " + reasons.join(", ") + " and run npm test again");
  }
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-qq", "-y", "--no-install-recommends"].concat(names));
}

// npm writes the inner lock file last, so it also tells that the installation was finished.
function dependenciesAreFresh() {
  try {
    var installed = fs.statSync(path.join(root, "node_modules", ".package-lock.json"));
    return installed.mtimeMs >= fs.statSync(path.join(root, "package-lock.json")).mtimeMs;
  } catch (error) {
    if (error.code === "ENOENT") return false;
    throw error;
  }
}

function findNode() {
  var bundled = path.join(root, "node_modules", "node", "bin", "node");
  if (fs.existsSync(bundled)) return bundled;
  if (parseInt(process.versions.node, 10) >= 24) return process.execPath;
  return fail(
    "npm ci did not bring Node 24; were install scripts switched off (npm config get ignore-scripts)?",
  );
}

function run(command, args) {
  var result = childProcess.spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (result.error) fail(command + " could not be started: " + result.error.message);
  if (result.status !== 0) process.exit(result.status || 1);
}

function fail(message) {
  console.error("npm test: " + message);
  process.exit(64);
}

import { afterEach, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const SHOP = `export const total = (items) => items.reduce((sum, { price }) => sum + price, 0);
export const csv = (items) => items.map(({ name, price }) => name + "," + price).join("\\n");
`;

const TEST = `import test from "node:test";
import assert from "node:assert/strict";
import * as shop from "../src/shop.js";
test("sums prices", () => assert.equal(shop.total([{ price: 1 }, { price: 2 }]), 3));
test("writes csv", () => assert.equal(shop.csv([{ name: "a", price: 1 }]), "a,1"));
`;

const HARMLESS = `cat <<'END'
<review>{"criteria": [{"criterion": 1, "answer": "met", "reason": "src/shop.js has no csv"}],
 "concerns": [{"concern": 1, "answer": "harmless", "reason": "the task removes CSV"}]}</review>
END
`;

/** A shop with tests, an agent that does what the script says, and a reader that says `HARMLESS`. */
function shop(tasks: string, agent: string, verify = ""): void {
  project = createProject({ tasks: [] });
  project.write("package.json", '{ "type": "module" }\n');
  project.write("src/shop.js", SHOP);
  project.write("test/shop.test.js", TEST);
  project.write("TODO.md", tasks);
  project.write(".ralph/agent.sh", `PROMPT=$(cat)\n${agent}\necho "<promise>COMPLETE</promise>"\n`);
  project.write(".ralph/reader.sh", `cat > /dev/null\n${HARMLESS}`);
  project.write(
    ".ralph/ralph.toml",
    `agent = "me"
[agents.me]
command = ["sh", ".ralph/agent.sh"]
[agents.critic]
command = ["sh", "${project.root}/.ralph/reader.sh"]
[verify]
${verify}
[[gates]]
name = "tests"
command = "node --test test/shop.test.js"
`,
  );
  project.commit();
}

async function said(...args: string[]): Promise<string> {
  const { stdout, stderr } = await project.ralph(...args);
  return `${stdout}${stderr}`.replaceAll(/\s+/g, " ");
}

const REMOVES_CSV = `case "$PROMPT" in
*"Write a README"*) echo "# Shop" > README.md ;;
*) sed -i /csv/d src/shop.js test/shop.test.js ;;
esac`;
const NO_CSV = "- [ ] We no longer need CSV\n  - csv is gone\n- [ ] Write a README\n";

test("a refactoring of tests is accepted, and why says that the old checks pass", async () => {
  const agent = `mkdir -p test/helpers
cat > test/helpers/sums.js <<'END'
import assert from "node:assert/strict";
export const equals = (got, wanted) => assert.equal(got, wanted);
END
sed -i 's/^import assert.*/import { equals } from ".\\/helpers\\/sums.js";/; s/assert.equal/equals/' test/shop.test.js`;
  shop("- [ ] Move the assertions into a helper\n", agent);
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  const why = await said("why", "move-the-assertions-into-a-helper");
  expect(why).toContain("the old checks pass too (test/shop.test.js)");
  expect(await said("why", "1")).toContain(
    "The gates ran again with these as before the task: test/shop.test.js",
  );
});

test("a removed feature that the reader calls harmless is accepted, and the certificate names who agreed", async () => {
  shop(NO_CSV, REMOVES_CSV, 'reader_agent = "critic"');
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  const certificate = await said("verify", "we-no-longer-need-csv");
  expect(certificate).toContain("old checks tests failed");
  expect(certificate).toContain("reader critic");
  expect(certificate).toContain("(harmless, says the second reader: the task removes CSV)");
  expect(certificate).toContain("csv is gone – checked by the second reader: src/shop.js has no csv.");
  expect(await said("verify", "--all")).toContain("2 of 2 accepted tasks verified.");
});

test("without a reader a person is asked, others go on, and accept completes it without an agent", async () => {
  shop(NO_CSV, REMOVES_CSV, 'reader = "never"');
  expect(await project.ralph("run")).toMatchObject({ code: 3 });
  expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["decide", "accepted"]);
  expect(JSON.parse((await project.ralph("status", "--json")).stdout)).toMatchObject({
    tasks: [{ status: "undecided" }, { status: "done" }],
    inbox: [{ kind: "decide", options: ["accept", "reject"], iteration: 1 }],
  });
  expect(await said("inbox")).toContain("see the work: ralph why 1");
  expect(await said("decide", "we-no-longer-need-csv", "accept")).toContain("no agent is asked again");
  expect(await said("run")).toContain("accepted we-no-longer-need-csv: by a person (iteration 1)");
  expect(await project.history()).toHaveLength(2);
  expect(await said("verify", "we-no-longer-need-csv")).toContain("(a person agreed)");
});

test("a challenge that is answered is accepted, with the answer in the certificate", async () => {
  const agent = `case "$PROMPT" in
*"Concern 1"*) echo "Concern 1: the rule is for browsers" ;;
*) echo "// eslint-disable-next-line no-console" >> src/shop.js ;;
esac`;
  shop("- [ ] Print a warning\n", agent);
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["challenged", "accepted"]);
  expect(await said("verify", "print-a-warning")).toContain("(the agent answered: the rule is for browsers)");
  expect(await said("why", "print-a-warning")).toContain("after 1 challenge");
});

import { expect, test } from "vitest";
import { addressKind } from "./address-kind.ts";

test.each([
  ["127.0.0.1", "near"],
  ["127.255.0.9", "near"],
  ["0.0.0.0", "near"],
  ["169.254.169.254", "near"],
  ["::1", "near"],
  ["::", "near"],
  ["fe80::1%eth0", "near"],
  ["::ffff:127.0.0.1", "near"],
  ["no address", "near"],
  ["10.1.2.3", "private"],
  ["172.31.0.1", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "private"],
  ["::ffff:10.0.0.1", "private"],
  ["::7f00:1", "private"],
  ["64:ff9b::7f00:1", "private"],
  ["2002:7f00:1::", "private"],
  ["fd00::1", "private"],
  ["172.32.0.1", "public"],
  ["8.8.8.8", "public"],
  ["2606:4700::1", "public"],
])("%s is %s", (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});

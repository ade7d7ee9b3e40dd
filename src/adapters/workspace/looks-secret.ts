import { posix } from "node:path";

/** Whether a file is better not committed without a person looking: by its name, seldom by its content. */
export function looksSecret(path: string, read: () => string): boolean {
  const name = posix.basename(path).toLowerCase();
  if (IS_EXAMPLE.test(name)) return false;
  if (name === ".npmrc" || name === ".yarnrc.yml") return /_authToken|_password|npmAuthToken/.test(read());
  return SECRET_NAMES.some((pattern) => pattern.test(name)) || SECRET_PATHS.test(path);
}

const IS_EXAMPLE = /[._-](example|sample|template|dist|pub)([._-]|$)/;

const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(\..+)?$/,
  /\.(pem|key|p12|pfx|ppk|jks|keystore|kdbx)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)/,
  /^(credentials|client_secret|service[-_]account).*\.json$/,
  /^\.(netrc|pgpass|pypirc|htpasswd|git-credentials)$/,
  /^_netrc$/,
];

const SECRET_PATHS = /(^|\/)(\.aws\/credentials|\.docker\/config\.json|\.kube\/config)$/;

/** Bubblewrap is made of namespaces, which Linux alone has. */
export function hasNamespaces(platform: NodeJS.Platform): boolean {
  return platform === "linux";
}

/** Whether agents keep their logins where a look would make the system ask the person. */
export function hasKeychain(platform: NodeJS.Platform): boolean {
  return platform === "darwin";
}

/** The names by which npm packages call a platform: on Linux there is one for each C library. */
export function packagePlatforms(platform: NodeJS.Platform): readonly string[] {
  return platform === "linux" ? ["linux", "linuxmusl"] : [platform];
}

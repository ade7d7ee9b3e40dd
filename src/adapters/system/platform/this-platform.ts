/** The system that we run on. Everyone else asks a function of this folder, which is told the platform. */
export const THIS_PLATFORM: NodeJS.Platform = process.platform;

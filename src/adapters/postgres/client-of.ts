import { Client, type ClientConfig } from "pg";

/** For a pool: clients by our settings, which hang up when they were not let in; the driver leaves the line open. */
export function clientOf(config: () => ClientConfig): new () => Client {
  return class extends Client {
    constructor() {
      super(config());
    }

    override connect(): Promise<Client>;
    override connect(done: Done): void;
    override connect(done?: Done): Promise<Client> | void {
      if (done === undefined) return super.connect();
      super.connect((error: Error) => {
        if (error instanceof Error) void this.end();
        (done as (error: Error) => void)(error);
      });
    }
  };
}

type Done = ((error: Error) => void) | ((error: null, client: Client) => void);

export interface PythonModule {
  readonly python: string;
  readonly module: string;
}

/** What a command runs with Python, such as `pytest` in `python3 -m pytest`; null when it does something else. */
export function pythonModule(command: string): PythonModule | null {
  const said = /^\s*(?:\w+=\S*\s+)*([^\s'"`$;&|<>()]*python[\d.]*)\s+-m\s+([\w.]+)/.exec(command);
  const [, python, module] = said ?? [];
  return python === undefined || module === undefined ? null : { python, module };
}

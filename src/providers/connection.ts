/** Requests with typed problems. The host is responsible for tokens, XSRF and base URLs. */

import type { Problem } from '../schema';
import { ProblemError, abortError, isAbort, localProblem } from './provider';

/** The part of a WebSocket that is used; tests implement fakes of it. */
export interface ISocket {
  onmessage: ((event: { data: unknown }) => void) | null;
  onerror: ((event: unknown) => void) | null;
  onclose: ((event: unknown) => void) | null;
  close(): void;
}

export interface IHttpRequest {
  method?: string;
  body?: string | Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Connection provided by the host; JupyterLab builds it from `ServerConnection`. */
export interface IServerConnection {
  /** Server root, with or without a trailing slash: `http://host/user/me/`. */
  readonly baseUrl: string;
  readonly wsUrl: string;
  /** Added to socket URLs only (requests authenticate through `fetch`). */
  readonly token?: string;
  fetch(url: string, request: IHttpRequest): Promise<Response>;
  openSocket(url: string): ISocket;
  /** Replaced in tests; resolves after `ms` or rejects when aborted. */
  delay?(ms: number, signal: AbortSignal): Promise<void>;
}

const API = 'autodoc/api/';

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

function isProblem(value: unknown): value is Problem {
  return (
    typeof value === 'object' &&
    value !== null &&
    'detail' in value &&
    typeof value.detail === 'string' &&
    'title' in value &&
    typeof value.title === 'string'
  );
}

export class Connection {
  constructor(private readonly _host: IServerConnection) {}

  /** Body of a successful response. Throws `ProblemError`, or `AbortError` when aborted. */
  async json<T>(resource: string, request: IHttpRequest): Promise<T> {
    const response = await this._fetch(resource, request);
    const text = await response.text();
    if (!response.ok) {
      throw new ProblemError(problemFrom(response, text));
    }
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw new ProblemError(
        localProblem(
          'bad-answer',
          'The server sent an invalid response',
          error instanceof Error ? error.message : String(error),
          'Reload the page. The server may have another version.',
          response.status
        )
      );
    }
  }

  /** Sends DELETE without waiting: the caller is leaving and cannot report errors. */
  deleteWithoutWaiting(resource: string): void {
    this._host
      .fetch(this._url(resource), { method: 'DELETE' })
      .catch(() => undefined); // The server drops abandoned jobs itself.
  }

  socket(resource: string): ISocket {
    const { wsUrl, token } = this._host;
    const query = token ? `?token=${encodeURIComponent(token)}` : '';
    return this._host.openSocket(
      `${withSlash(wsUrl)}${API}${resource}${query}`
    );
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    return this._host.delay?.(ms, signal) ?? wait(ms, signal);
  }

  private _url(resource: string): string {
    return `${withSlash(this._host.baseUrl)}${API}${resource}`;
  }

  private async _fetch(
    resource: string,
    request: IHttpRequest
  ): Promise<Response> {
    try {
      return await this._host.fetch(this._url(resource), request);
    } catch (error) {
      if (request.signal?.aborted || isAbort(error)) {
        throw abortError();
      }
      throw new ProblemError(
        localProblem(
          'unreachable',
          'The server cannot be reached',
          error instanceof Error ? error.message : String(error),
          'Check that the Jupyter server is running, then retry.'
        )
      );
    }
  }
}

function problemFrom(response: Response, text: string): Problem {
  try {
    const body: unknown = JSON.parse(text);
    if (isProblem(body)) {
      return {
        ...localProblem('', '', '', ''),
        ...body,
        status: response.status
      };
    }
  } catch {
    // A proxy's HTML page, described by its status below.
  }
  const isNotFound = response.status === 404;
  return localProblem(
    `http-${response.status}`,
    'The server refused the request',
    `It answered ${response.status} ${response.statusText}`.trim() + '.',
    isNotFound
      ? 'Check that the server extension is enabled: jupyter server extension list.'
      : 'Retry, or check the server log.',
    response.status
  );
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    function stop(): void {
      clearTimeout(timer);
      reject(abortError());
    }
    if (signal.aborted) {
      stop();
    } else {
      signal.addEventListener('abort', stop, { once: true });
    }
  });
}

import { ServerConnection } from '@jupyterlab/services';
import type { IServerConnection, ISocket } from '../providers/connection';

/** Converts JupyterLab's connection settings (token, XSRF, base URL) for the provider. */
export function labConnection(
  settings: ServerConnection.ISettings
): IServerConnection {
  return {
    baseUrl: settings.baseUrl,
    wsUrl: settings.wsUrl,
    token: settings.appendToken ? settings.token : undefined,
    fetch: (url, request) =>
      ServerConnection.makeRequest(url, request, settings),
    openSocket: url => adapt(new settings.WebSocket(url))
  };
}

function adapt(socket: WebSocket): ISocket {
  const adapter: ISocket = {
    onmessage: null,
    onerror: null,
    onclose: null,
    close: () => socket.close()
  };
  socket.onmessage = event => adapter.onmessage?.(event);
  socket.onerror = event => adapter.onerror?.(event);
  socket.onclose = event => adapter.onclose?.(event);
  return adapter;
}

package dev.warmpath.router.logs;

import dev.warmpath.router.logs.RequestLog.Waiting;
import java.io.IOException;

/**
 * What a log writes of a request.
 *
 * <p>Confined to the log's thread.
 */
interface LineFormat {

  /** What a file, or a process' part of one, begins with; empty for nothing. */
  byte[] header(long nowMillis) throws IOException;

  /** The line of a request. */
  byte[] of(Waiting waiting) throws IOException;
}

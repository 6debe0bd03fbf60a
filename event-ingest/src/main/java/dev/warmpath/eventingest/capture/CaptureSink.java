package dev.warmpath.eventingest.capture;

import java.io.IOException;

/**
 * Where records go.
 *
 * <p>Confined to its writer's thread.
 */
public interface CaptureSink extends AutoCloseable {

  /** Appends one record; it may stay in memory until {@link #flush}. */
  void write(CaptureRecord record) throws IOException;

  /** Hands what was written to the operating system, so that a crash leaves it readable. */
  void flush() throws IOException;

  @Override
  void close() throws IOException;
}

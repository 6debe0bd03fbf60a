package dev.warmpath.eventingest.capture;

import java.io.IOException;

/**
 * Where records go.
 *
 * <p>Confined to its writer's thread.
 */
public interface CaptureSink extends AutoCloseable {

  /** Appends one record. */
  void write(CaptureRecord record) throws IOException;

  @Override
  void close() throws IOException;
}

package dev.warmpath.lab.fleet;

import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A router to be measured.
 *
 * <p>Immutable.
 */
sealed interface BenchRouter permits PolicyRouter, PeerRouter {

  /** What it is called in the report and in the names of logs. */
  String name();

  /**
   * Starts it in front of these engines.
   *
   * @param log what it prints
   * @throws IOException if it does not come up; with the end of its log
   */
  Running start(List<Ports> engines, Path log) throws IOException, InterruptedException;

  /** One that was started. Confined to the thread of the bench. */
  interface Running extends AutoCloseable {

    /** Where requests go. */
    String url();

    /** Fails with the end of its log if it has ended. */
    void requireAlive() throws IOException;

    @Override
    void close();
  }
}

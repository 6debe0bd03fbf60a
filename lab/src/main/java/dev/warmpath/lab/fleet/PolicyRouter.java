package dev.warmpath.lab.fleet;

import dev.warmpath.lab.bench.ServedRouter;
import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Our own router under one policy; a new process in each turn.
 *
 * @param name of the policy
 */
record PolicyRouter(String name) implements BenchRouter {

  @Override
  public Running start(List<Ports> engines, Path log) throws IOException, InterruptedException {
    ServedRouter router =
        new ServedRouter(FleetBenchPlan.MODEL, engines, "embedded", List.of("--policy", name), log);
    try {
      router.awaitReady();
      router.awaitExact();
      return new Served(router);
    } catch (IOException | InterruptedException e) {
      router.close();
      throw e;
    }
  }

  private record Served(ServedRouter router) implements Running {

    @Override
    public String url() {
      return "http://127.0.0.1:" + router.port();
    }

    @Override
    public void requireAlive() throws IOException {
      router.requireAlive();
    }

    @Override
    public void close() {
      router.close();
    }
  }
}

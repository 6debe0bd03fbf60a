package dev.warmpath.router.rig;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Clients that send one chat after another until they are stopped. */
public final class Load implements AutoCloseable {

  private final List<Thread> clients = new ArrayList<>();
  private final AtomicLong answered = new AtomicLong();
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  public Load(Rig rig, int threads, String body) {
    for (int i = 0; i < threads; i++) {
      Thread client = new Thread(() -> run(rig, body), "client-" + i);
      clients.add(client);
      client.start();
    }
  }

  private void run(Rig rig, String body) {
    while (!stopped) {
      try {
        var response = rig.chat(body);
        if (response.statusCode() == 200) {
          answered.incrementAndGet();
        } else {
          failures.add(
              response.statusCode()
                  + " "
                  + new String(response.body(), java.nio.charset.StandardCharsets.UTF_8));
        }
      } catch (Exception e) {
        failures.add(e + ", caused by " + e.getCause());
      }
    }
  }

  /** Good answers so far. */
  public long answered() {
    return answered.get();
  }

  /** What came instead of good answers. */
  public List<String> failures() {
    return List.copyOf(failures);
  }

  /** Ends when each client has its last answer. */
  @Override
  public void close() {
    stopped = true;
    try {
      for (Thread client : clients) {
        client.join(Rig.PATIENCE.toMillis());
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}

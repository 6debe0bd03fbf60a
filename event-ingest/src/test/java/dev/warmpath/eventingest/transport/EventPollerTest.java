package dev.warmpath.eventingest.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.zeromq.ZContext;

class EventPollerTest {

  /** The bound is far from both: it costs next to nothing, and a whole processor if it spins. */
  @Test
  void pollerWithoutEnginesWaits() throws Exception {
    try (ZContext context = new ZContext()) {
      EventPoller poller = new EventPoller(context, () -> {});
      Thread thread = new Thread(poller, "poller");
      thread.start();
      thread.join(TimeUnit.SECONDS.toMillis(1));
      long cpuNanos = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId());
      poller.stop();
      thread.join();
      assertThat(cpuNanos).isLessThan(TimeUnit.MILLISECONDS.toNanos(400));
    }
  }
}

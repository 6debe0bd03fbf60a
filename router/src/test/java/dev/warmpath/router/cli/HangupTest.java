package dev.warmpath.router.cli;

import static org.assertj.core.api.Assumptions.assumeThat;

import dev.warmpath.router.rig.Rig;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HangupTest {

  @Test
  void hearsEverySignal() throws Exception {
    AtomicInteger heard = new AtomicInteger();
    boolean handled = ServeCommand.Hangup.handle(heard::incrementAndGet);
    assumeThat(handled).as("nobody started the tests with signals ignored").isTrue();
    for (int i = 1; i <= 2; i++) {
      int expected = i;
      String process = Long.toString(ProcessHandle.current().pid());
      new ProcessBuilder("kill", "-HUP", process).start().waitFor();
      Rig.until(() -> heard.get() == expected);
    }
  }
}

package dev.warmpath.eventingest.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class HandoverTest {

  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

  @Test
  void carriesEverything() throws Exception {
    byte[] bytes = new byte[1 << 20];
    new Random(1).nextBytes(bytes);
    Handover handover = new Handover(System::nanoTime, PATIENCE);
    Thread writer =
        new Thread(() ->
            handover.fill(out -> {
              for (int from = 0; from < bytes.length; from += 1000) {
                out.write(bytes, from, Math.min(1000, bytes.length - from));
              }
            }));
    writer.start();
    ByteArrayOutputStream to = new ByteArrayOutputStream();
    handover.drainTo(to, PATIENCE);
    writer.join();
    assertThat(to.toByteArray()).isEqualTo(bytes);
    assertThat(handover.tookNanos()).isPositive();
  }

  @Test
  void writerIsNotHeldUpBeyondItsLimit() {
    AtomicLong now = new AtomicLong();
    Handover handover = new Handover(now::get, TimeUnit.MILLISECONDS.toNanos(5));
    AtomicLong written = new AtomicLong();
    handover.fill(out -> {
      while (true) {
        out.write(1);
        written.incrementAndGet();
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
      }
    });
    assertThat(written.get()).isEqualTo(5);
    assertThatThrownBy(() -> handover.drainTo(OutputStream.nullOutputStream(), PATIENCE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("events must go on");
  }

  @Test
  void diskThatStandsStillDoesNotHoldTheWriterUp() {
    Handover handover = new Handover(System::nanoTime, TimeUnit.MILLISECONDS.toNanos(20));
    handover.fill(out -> {
      for (int i = 0; i < 1000; i++) {
        out.write(new byte[100]); // nobody takes it
      }
    });
    assertThat(handover.tookNanos()).isLessThan(TimeUnit.SECONDS.toNanos(20));
    assertThatThrownBy(() -> handover.drainTo(OutputStream.nullOutputStream(), PATIENCE))
        .isInstanceOf(IOException.class);
  }

  @Test
  void failureOfTheContentIsPassedOn() {
    Handover handover = new Handover(System::nanoTime, PATIENCE);
    handover.fill(out -> {
      out.write(1);
      throw new IllegalStateException("a bug");
    });
    assertThatThrownBy(() -> handover.drainTo(OutputStream.nullOutputStream(), PATIENCE))
        .isInstanceOf(IOException.class)
        .hasMessage("a bug");
  }

  @Test
  void writerThatComesTooLateWritesNothing() {
    Handover handover = new Handover(System::nanoTime, PATIENCE);
    assertThatThrownBy(() -> handover.drainTo(OutputStream.nullOutputStream(), 1))
        .hasMessageContaining("no time");
    AtomicLong written = new AtomicLong();
    handover.fill(out -> {
      out.write(1);
      written.incrementAndGet();
    });
    assertThat(written.get()).isZero();
  }
}

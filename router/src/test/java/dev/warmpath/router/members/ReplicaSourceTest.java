package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.ReplicaTemplate;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReplicaSourceTest {

  private interface Step {
    Found look() throws IOException;
  }

  private final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();
  private final AtomicLong looks = new AtomicLong();
  private final BlockingQueue<List<String>> found = new LinkedBlockingQueue<>();
  private volatile Step now = () -> at("10.0.0.1");

  /** Takes the queued steps one by one, then repeats the last one. */
  private final Look look =
      () -> {
        Step next = steps.poll();
        now = next == null ? now : next;
        looks.incrementAndGet();
        return now.look();
      };

  private final ReplicaSource source = new ReplicaSource("test", look, 5, System::nanoTime);

  @AfterEach
  void close() {
    source.close();
  }

  private static Found at(String... hosts) {
    Found found = new Found();
    Stream.of(hosts)
        .forEach(host -> found.add(ReplicaTemplate.DEFAULT, null, host, 8000, Map.of()));
    return found;
  }

  private static void add(Found found, String name, String host) {
    found.add(ReplicaTemplate.DEFAULT, name, host, 8000, Map.of());
  }

  private void start() {
    source.start(replicas -> found.add(replicas.stream().map(ReplicaConfig::name).toList()));
  }

  private List<String> next() throws InterruptedException {
    return found.poll(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private void untilLookedAgain() {
    long before = looks.get();
    Rig.until(() -> looks.get() >= before + 2);
  }

  @Test
  void aSetIsGivenOnWhenItHasChanged() throws InterruptedException {
    start();
    assertThat(next()).containsExactly("10.0.0.1");
    untilLookedAgain();
    assertThat(found).isEmpty();
    steps.add(() -> at("10.0.0.2", "10.0.0.1"));
    assertThat(next()).containsExactly("10.0.0.1", "10.0.0.2");
    steps.add(() -> at());
    assertThat(next()).isEmpty();
  }

  @Test
  void aFailureKeepsTheSetAndShowsWhy() throws InterruptedException {
    start();
    assertThat(next()).containsExactly("10.0.0.1");
    steps.add(() -> {
      throw new IOException("no answer");
    });
    Rig.until(() -> "no answer".equals(source.problem()));
    untilLookedAgain();
    ReplicaSource.Status failing = source.status();
    assertThat(failing.failures()).isGreaterThan(1);
    assertThat(failing.replicas()).isEqualTo(1);
    assertThat(failing.goodSeconds()).isPositive();
    assertThat(found).isEmpty();
    steps.add(() -> at("10.0.0.1"));
    Rig.until(() -> source.problem() == null);
    assertThat(source.status().goodSeconds()).isLessThan(failing.goodSeconds() + 5);
    assertThat(found).isEmpty();
  }

  @Test
  void anUnexpectedFailureDoesNotEndTheSource() throws InterruptedException {
    steps.add(() -> {
      throw new IllegalStateException("bug=1");
    });
    start();
    Rig.until(() -> source.problem() != null);
    assertThat(source.problem()).contains("bug=1");
    steps.add(() -> at("10.0.0.1"));
    assertThat(next()).containsExactly("10.0.0.1");
  }

  @Test
  void aSetThatCouldNotBeTakenIsGivenAgain() throws InterruptedException {
    AtomicLong tries = new AtomicLong();
    source.start(replicas -> {
      if (tries.incrementAndGet() == 1) {
        throw new IllegalStateException("not now");
      }
      found.add(replicas.stream().map(ReplicaConfig::name).toList());
    });
    assertThat(next()).containsExactly("10.0.0.1");
    Rig.until(() -> source.problem() == null);
    assertThat(source.status().failures()).isEqualTo(1);
  }

  @Test
  void nothingIsFoundOnceItIsClosed() throws InterruptedException {
    start();
    assertThat(next()).isNotNull();
    source.close();
    now = () -> at("10.0.0.9");
    assertThat(found.poll(50, TimeUnit.MILLISECONDS)).isNull();
  }

  @Test
  void aChangeIsLookedForBeforeTheIntervalIsOver() throws InterruptedException {
    AtomicLong count = new AtomicLong();
    Runnable[] wake = new Runnable[1];
    Look watched =
        new Look() {
          @Override
          public Found look() {
            return at("10.0.0." + count.incrementAndGet());
          }

          @Override
          public void onChange(Runnable listener) {
            wake[0] = listener;
          }
        };
    try (ReplicaSource slow = new ReplicaSource("slow", watched, 86_400_000, System::nanoTime)) {
      slow.start(replicas -> found.add(replicas.stream().map(ReplicaConfig::name).toList()));
      assertThat(next()).containsExactly("10.0.0.1");
      wake[0].run();
      assertThat(next()).containsExactly("10.0.0.2");
    }
  }

  @Test
  void anAddressThatMakesNoReplicaIsRefusedAlone() throws InterruptedException {
    steps.add(() -> {
      Found found = new Found();
      found.refuse("pod b: why");
      add(found, "a", "10.0.0.1");
      add(found, "not a name", "10.0.0.2");
      add(found, "a", "10.0.0.3");
      return found;
    });
    start();
    assertThat(next()).containsExactly("a");
    Rig.until(() -> source.status().refused() == 3);
  }

  @Test
  void refusedAddressesNameWhatIsWrong() {
    Found found = new Found();
    add(found, "a", "10.0.0.1");
    add(found, "a", "10.0.0.3");
    add(found, "not a name", "fd00::2");
    assertThat(found.refused())
        .containsExactly(
            "10.0.0.3:8000: another address is named 'a'",
            "[fd00::2]:8000: {name} may not be 'not a name'");
  }
}

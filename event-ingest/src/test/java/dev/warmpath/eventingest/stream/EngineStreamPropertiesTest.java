package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Whatever happens on the way, the stream ends up true, and exact if it says so. */
final class EngineStreamPropertiesTest {

  private static final int PROMPTS = 12;

  @Property(tries = 1000)
  void neverCreditsWhatIsNotHeld(
      @ForAll long seed, @ForAll boolean canReplay, @ForAll boolean keepsAll) {
    Random random = new Random(seed);
    StreamFixture fixture = StreamFixture.live(canReplay);
    Wire wire = new Wire(fixture, random, keepsAll);
    Responses responses = new Responses(fixture, random);
    for (int step = 0; step < 150; step++) {
      fixture.clock.pass(Duration.ofMillis(1));
      act(fixture, random);
      if (random.nextInt(15) == 0) {
        wire.readMetrics();
      }
      if (random.nextInt(10) == 0) {
        fixture.stream.recovered();
      }
      if (random.nextInt(300) == 0) {
        fixture.stream.failed("a bug, on purpose");
      }
      responses.come();
      wire.carry();
    }
    wire.lossless = true;
    for (int step = 0; step < 3; step++) {
      fixture.engine.serve(prompt(random));
      wire.carry();
    }
    wire.converge();

    boolean exact = fixture.trust() == Trust.EXACT;
    assertThat(fixture.trust())
        .as("%s, asked from %d", fixture.stream.trust(), fixture.askedFrom)
        .isIn(Trust.EXACT, Trust.SUSPECT);
    assertThat(canReplay && keepsAll && !exact)
        .as("trust with replay: %s", fixture.stream.trust())
        .isFalse();
    for (int i = 0; i < PROMPTS; i++) {
      int actual = fixture.engine.reusable(prompt(i));
      int predicted = fixture.predicted(prompt(i));
      assertThat(predicted).isLessThanOrEqualTo(actual);
      if (exact) {
        assertThat(predicted).isEqualTo(actual);
      }
    }
  }

  private static void act(StreamFixture fixture, Random random) {
    int what = random.nextInt(100);
    if (what < 60) {
      fixture.engine.serve(prompt(random));
    } else if (what < 97) {
      fixture.engine.evict(random);
    } else if (what < 99) {
      fixture.engine.clear();
    } else {
      fixture.engine.restart();
      fixture.stream.disconnected();
      fixture.stream.connected();
    }
  }

  private static int[] prompt(Random random) {
    return prompt(random.nextInt(PROMPTS));
  }

  /** Prompts that share beginnings. */
  private static int[] prompt(int number) {
    int shared = number % 3 * 8;
    return IntStream.range(0, 25).map(i -> i < shared ? i : 1000 * (number + 1) + i).toArray();
  }

  /** Says, at once or later, how much the engine reuses of prompts. */
  private static final class Responses {

    private record Response(int[] prompt, int cachedTokens, long dispatched) {}

    private final StreamFixture fixture;
    private final Random random;
    private final List<Response> waiting = new ArrayList<>();

    Responses(StreamFixture fixture, Random random) {
      this.fixture = fixture;
      this.random = random;
    }

    void come() {
      if (random.nextInt(4) == 0) {
        int[] prompt = prompt(random);
        int cached = fixture.engine.reusable(prompt);
        waiting.add(new Response(prompt, cached, fixture.clock.getAsLong()));
      }
      while (!waiting.isEmpty() && random.nextInt(3) > 0) {
        Response response = waiting.remove(random.nextInt(waiting.size()));
        fixture.reused(response.prompt, response.cachedTokens, response.dispatched);
      }
    }
  }

  /** Delivers what the engine publishes, with losses, doubles, late ones and late replays. */
  private static final class Wire {
    private final StreamFixture fixture;
    private final Random random;
    private int sent;
    private final boolean keepsAll;
    private boolean lossless;
    private int late = -1;
    private double startSeen = Double.NaN;

    Wire(StreamFixture fixture, Random random, boolean keepsAll) {
      this.fixture = fixture;
      this.random = random;
      this.keepsAll = keepsAll;
    }

    /** The router sees when the process started, and says so if it was another time before. */
    void readMetrics() {
      double start = fixture.engine.restarts();
      if (startSeen < start) {
        fixture.stream.restarted("the process started at another time");
      }
      startSeen = start;
      fixture.stream.runsSince(start);
    }

    void carry() {
      int published = fixture.engine.published().size();
      if (sent > published) {
        late = -1; // no connection brings what another process had published
      }
      sent = Math.min(sent, published);
      if (published == 0) {
        sent = 0;
      }
      for (; sent < published; sent++) {
        int fate = lossless ? 50 : random.nextInt(100);
        if (fate < 8 && late < 0) {
          late = sent;
        } else if (fate >= 5) {
          fixture.deliver(sent);
        }
        if (fate >= 95) {
          fixture.deliver(sent);
        }
      }
      if (late >= 0 && random.nextInt(3) == 0) {
        fixture.deliver(late);
        late = -1;
      }
      if (random.nextInt(4) == 0) {
        answerSomehow();
      }
    }

    void converge() {
      answer();
      fixture.clock.pass(StreamFixture.LIMITS.replayCooldown());
      fixture.stream.tick();
      answer();
    }

    /** With all that the engine published, or with the end of it. */
    private void answer() {
      List<byte[]> published = fixture.engine.published();
      int gone = keepsAll ? 0 : random.nextInt(published.size() + 1);
      fixture.answer(published, Math.min(gone, Math.max(0, published.size() - 1)));
    }

    private void answerSomehow() {
      if (!fixture.asked()) {
        return;
      }
      if (random.nextInt(3) > 0 || lossless) {
        answer();
        return;
      }
      if (random.nextInt(4) == 0) {
        fixture.refuse();
        return;
      }
      long id = fixture.askedId;
      long from = fixture.askedFrom;
      fixture.askedFrom = -1;
      List<byte[]> published = new ArrayList<>(fixture.engine.published());
      int end = (int) from + 2 + random.nextInt(3);
      for (int i = (int) from; i < Math.min(end, published.size()); i++) {
        fixture.stream.replayed(id, new StreamMessage(i, published.get(i)));
      }
      fixture.stream.replayEnded(id, true);
    }
  }
}

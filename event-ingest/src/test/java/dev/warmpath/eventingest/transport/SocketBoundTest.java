package dev.warmpath.eventingest.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ServerSocket;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.ZContext;

/** What one socket keeps of messages of at most {@value #MESSAGE_BYTES} bytes. */
@Timeout(120)
final class SocketBoundTest {

  private static final int MESSAGE_BYTES = 1 << 20;
  private static final int QUEUE_BYTES = 2 * MESSAGE_BYTES;

  private final ZContext context = new ZContext(1);
  private final EventPoller poller = new EventPoller(context, () -> {});
  private final Thread thread = new Thread(poller);
  private final Heard heard = new Heard();

  @BeforeEach
  void start() {
    context.setLinger(0);
    thread.start();
  }

  @AfterEach
  void stop() throws InterruptedException {
    heard.mayGoOn.countDown();
    poller.stop();
    thread.join();
    Thread closing = new Thread(context::close);
    closing.setDaemon(true);
    closing.start();
    closing.join(20_000);
    assertThat(closing.isAlive()).as("the sockets' thread does not answer").isFalse();
  }

  @Test
  void messagesThatWaitAreBoundedInBytes() {
    int messages = 200;
    try (TestPublisher publisher = new TestPublisher(0)) {
      EventSubscriber subscriber = follow(publisher.endpoint());
      Await.until(
          "the connection delivers",
          () -> {
            publisher.send(new byte[] {1});
            return heard.bad.get() > 0;
          });
      heard.stopsAtMessages = true;
      for (int i = 0; i < messages; i++) {
        publisher.send(i, new byte[MESSAGE_BYTES / 4]);
      }
      Await.until("little room is left", () -> subscriber.queuedBytes() > QUEUE_BYTES * 3 / 4);
      assertThat(subscriber.queuedBytes()).isLessThanOrEqualTo(QUEUE_BYTES);

      heard.mayGoOn.countDown();
      Await.until("all came", () -> heard.messages.get() + heard.refused.get() == messages);
      assertThat(heard.refused.get()).isPositive();
      Await.until("nothing waits", () -> subscriber.queuedBytes() == 0);
    }
  }

  /** A message counts when its last frame is there; this one's never comes. */
  @Test
  void messageWithoutEndIsNotKept() throws IOException {
    byte[] frame = new byte[64 << 10];
    try (ServerSocket listener = RawPublisher.listen()) {
      follow(RawPublisher.endpoint(listener));
      try (RawPublisher peer = RawPublisher.accept(listener)) {
        long before = usedBytes();
        for (long sent = 0; sent < 256L << 20; sent += frame.length) {
          peer.frame(RawPublisher.MORE, frame);
        }
        assertThat(usedBytes() - before).isLessThan(64L << 20);

        peer.frame(RawPublisher.LAST, frame);
        peer.publish(7);
        Await.until("the next message is heard", () -> heard.last.get() == 7);
        assertThat(heard.bad.get()).isEqualTo(1);
      }
    }
  }

  /** As JeroMQ reads it, such a length is below 0. */
  @Test
  void lengthBeyondAllNumbersHurtsNobodyElse() throws IOException {
    try (ServerSocket listener = RawPublisher.listen();
        ServerSocket other = RawPublisher.listen()) {
      follow(RawPublisher.endpoint(listener));
      try (RawPublisher peer = RawPublisher.accept(listener)) {
        peer.declare(RawPublisher.LAST, -1);
        peer.declare(RawPublisher.LAST, Long.MIN_VALUE + Integer.MAX_VALUE);
        follow(RawPublisher.endpoint(other));
        try (RawPublisher good = RawPublisher.accept(other)) {
          good.publish(7);
          Await.until("the other one is heard", () -> heard.last.get() == 7);
        }
      }
    }
  }

  /** A port that is bound here has many peers; what one sends decides nothing for another. */
  @Test
  void messageThatIsRefusedOfOnePeerRefusesNoneOfAnother() throws IOException {
    EventSubscriber subscriber = follow("tcp://127.0.0.1:*", true);
    Await.until("bound", () -> subscriber.boundEndpoint() != null);
    String endpoint = Objects.requireNonNull(subscriber.boundEndpoint());
    try (RawPublisher stray = RawPublisher.connect(endpoint);
        RawPublisher engine = RawPublisher.connect(endpoint)) {
      byte[] tooLarge = new byte[MESSAGE_BYTES + 1];
      for (int i = 0; i < 20; i++) {
        stray.frame(RawPublisher.MORE, tooLarge); // its message goes on for ever
        stray.frame(RawPublisher.MORE, new byte[9]);
        engine.publish(i);
        int sequence = i;
        Await.until("the engine is heard", () -> heard.last.get() == sequence);
      }
      assertThat(heard.bad.get() + heard.refused.get()).isZero();

      stray.frame(RawPublisher.LAST, new byte[MESSAGE_BYTES]);
      Await.until("its message is one that is too large", () -> heard.oversized.get() == 1);
      stray.publish(77);
      Await.until("the next one is heard", () -> heard.last.get() == 77);
      Await.until("nothing waits", () -> subscriber.queuedBytes() == 0);
    }
  }

  private EventSubscriber follow(String endpoint) {
    return follow(endpoint, false);
  }

  private EventSubscriber follow(String endpoint, boolean bind) {
    EventSubscriber subscriber = new EventSubscriber(context, endpoint, bind, heard, MESSAGE_BYTES);
    poller.follow(subscriber);
    return subscriber;
  }

  private static long usedBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Counts what it hears; may stop its poller at the next message. */
  private static final class Heard implements LiveSink {

    private final CountDownLatch mayGoOn = new CountDownLatch(1);
    private final AtomicInteger messages = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger bad = new AtomicInteger();
    private final AtomicInteger oversized = new AtomicInteger();
    private final AtomicLong last = new AtomicLong(-1);
    private volatile boolean stopsAtMessages;

    @Override
    public void message(byte[] topic, StreamMessage message) {
      messages.incrementAndGet();
      last.set(message.sequence());
      try {
        if (stopsAtMessages) {
          mayGoOn.await();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void refused() {
      refused.incrementAndGet();
    }

    @Override
    public void problem(StreamCounter what) {
      bad.addAndGet(what == StreamCounter.BAD_MESSAGES ? 1 : 0);
      oversized.addAndGet(what == StreamCounter.OVERSIZED_MESSAGES ? 1 : 0);
    }

    @Override
    public void up() {}

    @Override
    public void down() {}
  }
}

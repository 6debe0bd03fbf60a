package dev.warmpath.lab.ingest;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.lab.bench.Meters;
import dev.warmpath.lab.ingest.EngineFeed.Probe;
import dev.warmpath.lab.ingest.IngestBench.InProcessPass;
import dev.warmpath.lab.ingest.IngestBench.PassResult;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The whole way: sockets that send what the engines say, over the loopback into an {@link
 * EventIngest}.
 *
 * <p>One thread sends for all engines in turns. Without a rate it stays at most a window ahead of
 * the index; with one, batches are due by a schedule fixed beforehand, blocks evenly spaced, and
 * what is timed begins behind a fifth of them: until then caches, tables and code warm up.
 *
 * <p>Confined to the measuring thread.
 */
final class ZmqPass implements AutoCloseable {

  private static final int WINDOW_BLOCKS = 1 << 15;
  private static final int DIGITS = 3;
  private static final int WARM_UP_PART = 5;
  private static final long NAP_NANOS = 50_000;
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final IngestCorpus corpus;
  private final Meters meters;
  private final BatchPublisher publisher;
  private final WatchedIndex index;
  private final Set<Long> strangers;
  private final EventIngest ingest;
  private final Histogram lateNanos = new Histogram(DIGITS);
  private long sentBlocks;

  /** Connects all engines; their first batch, an empty one, is through. */
  ZmqPass(IngestCorpus corpus, Meters meters, Clocks clocks) {
    this.corpus = corpus;
    this.meters = meters;
    publisher = new BatchPublisher(corpus.engines());
    index = new WatchedIndex(IngestCorpus.index(), corpus, meters::nanos);
    strangers = meters.threads();
    ingest = new EventIngest(index, clocks);
    for (int engine = 0; engine < corpus.engines(); engine++) {
      ingest.add(IngestCorpus.source(engine, publisher.endpoint(engine)));
    }
    greet();
  }

  /** Sends everything, as fast as it is applied. */
  PassResult flood() {
    long cpuNanos = ingestCpuNanos();
    long nanos = meters.nanos();
    for (int batch = 1; batch < corpus.longest(); batch++) {
      for (int engine = 0; engine < corpus.engines(); engine++) {
        awaitAtMostAhead(WINDOW_BLOCKS);
        send(engine, batch);
      }
    }
    return took(nanos, cpuNanos);
  }

  /** Sends everything at a rate. */
  PassResult pace(double blocksPerSecond) {
    for (EngineFeed feed : corpus.feeds()) {
      feed.probes().forEach(probe -> probe.due(0));
    }
    long cpuNanos = ingestCpuNanos();
    long nanos = meters.nanos();
    int[] nextProbe = new int[corpus.engines()];
    long warmUpBlocks = corpus.eventBlocks() / WARM_UP_PART;
    for (int batch = 1; batch < corpus.longest(); batch++) {
      for (int engine = 0; engine < corpus.engines(); engine++) {
        long due = nanos + (long) (1e9 * sentBlocks / blocksPerSecond);
        boolean timed = sentBlocks >= warmUpBlocks;
        EngineFeed feed = corpus.feeds().get(engine);
        nextProbe[engine] = markDue(feed, batch, nextProbe[engine], timed ? due : 0);
        awaitTime(due);
        if (timed) {
          lateNanos.recordValue(meters.nanos() - due);
        }
        send(engine, batch);
      }
    }
    return took(nanos, cpuNanos);
  }

  /** From the moment at which a probe was due until it was visible. */
  Histogram visibleNanos() {
    return index.visibleNanos();
  }

  /** From the moment at which a batch was due until it was sent: what the sender alone waited. */
  Histogram lateNanos() {
    return lateNanos;
  }

  @Override
  public void close() {
    ingest.close();
    publisher.close();
  }

  private PassResult took(long beganNanos, long beganCpuNanos) {
    awaitAtMostAhead(0);
    long nanos = meters.nanos() - beganNanos;
    long cpuNanos = ingestCpuNanos() - beganCpuNanos;
    ingest.settle();
    boolean exact = index.unanswered() == 0 && InProcessPass.isExact(corpus, index);
    return new PassResult(corpus.eventBlocks(), nanos, cpuNanos, exact);
  }

  private static int markDue(EngineFeed feed, int batch, int probe, long due) {
    int next = probe;
    while (next < feed.probes().size() && feed.probes().get(next).batch() <= batch) {
      feed.probes().get(next++).due(due);
    }
    return next;
  }

  private void send(int engine, int batch) {
    EngineFeed feed = corpus.feeds().get(engine);
    if (batch < feed.batches()) {
      publisher.send(engine, batch, feed.payloads()[batch]);
      sentBlocks += feed.eventBlocks()[batch];
    }
  }

  /** Sends the empty batch 0 until it is heard: before that, a subscriber may not be there yet. */
  private void greet() {
    long deadline = meters.nanos() + PATIENCE_NANOS;
    while (ingest.status().stream().map(EngineStatus::lastSequence).anyMatch(last -> last < 0)) {
      for (int engine = 0; engine < corpus.engines(); engine++) {
        publisher.send(engine, 0, corpus.feeds().get(engine).payloads()[0]);
      }
      LockSupport.parkNanos(200 * NAP_NANOS);
      requireBefore(deadline);
    }
  }

  private void awaitAtMostAhead(int blocks) {
    long deadline = 0;
    while (sentBlocks - index.appliedBlocks() > blocks) {
      LockSupport.parkNanos(NAP_NANOS);
      deadline = deadline == 0 ? meters.nanos() + PATIENCE_NANOS : deadline;
      requireBefore(deadline);
    }
  }

  private void requireBefore(long deadline) {
    if (meters.nanos() > deadline) {
      throw new IllegalStateException(
          "applied=%d of sent=%d, and no more for a minute"
              .formatted(index.appliedBlocks(), sentBlocks));
    }
  }

  private void awaitTime(long due) {
    for (long ahead = due - meters.nanos(); ahead > 0; ahead = due - meters.nanos()) {
      LockSupport.parkNanos(ahead);
    }
  }

  private long ingestCpuNanos() {
    return meters.cpuNanosOfThreadsBut(strangers);
  }

  /**
   * An index that counts what was applied, and asks itself for the prompt of a probe right after
   * its store, in the writer's thread: an answer in full is the moment of visibility.
   *
   * <p>Single writer, many readers; the histogram is read when the writer is done.
   */
  static final class WatchedIndex extends ForwardingIndex {

    private static final int DIGITS = 3;

    private final LongSupplier nanoClock;
    private final Map<Long, Probe> probes = new HashMap<>();
    private final Histogram visibleNanos = new Histogram(DIGITS);
    private final PrefixMatches matches = new PrefixMatches();
    private final AtomicLong appliedBlocks = new AtomicLong();
    private final AtomicLong unanswered = new AtomicLong();

    WatchedIndex(KvIndex index, IngestCorpus corpus, LongSupplier nanoClock) {
      super(index);
      this.nanoClock = nanoClock;
      corpus.feeds().stream()
          .flatMap(feed -> feed.probes().stream())
          .forEach(probe -> probes.put(probe.lastHash(), probe));
    }

    /** Blocks stored and removed so far. */
    long appliedBlocks() {
      return appliedBlocks.get();
    }

    /** Probes that were not answered in full. */
    long unanswered() {
      return unanswered.get();
    }

    /** From the moment at which an engine was to send a probe until it was visible. */
    Histogram visibleNanos() {
      return visibleNanos;
    }

    @Override
    public void stored(int slot, StoredBlocks blocks) {
      index.stored(slot, blocks);
      if (blocks.count() > 1) {
        Probe probe = probes.remove(blocks.engineHash(blocks.count() - 1));
        if (probe != null) {
          look(slot, probe);
        }
      }
      applied(blocks.count());
    }

    @Override
    public void removed(int slot, RemovedBlocks blocks) {
      index.removed(slot, blocks);
      applied(blocks.count());
    }

    private void look(int slot, Probe probe) {
      index.match(probe.prompt(), matches);
      if (matches.tokens(slot) != probe.storedTokens()) {
        unanswered.incrementAndGet();
      } else if (probe.dueNanos() != 0) {
        visibleNanos.recordValue(Math.max(0, nanoClock.getAsLong() - probe.dueNanos()));
      }
    }

    private void applied(int blocks) {
      appliedBlocks.lazySet(appliedBlocks.getPlain() + blocks);
    }
  }

  /**
   * The live sockets of many engines that send batches encoded beforehand, to one subscriber each.
   *
   * <p>Speaks ZMTP itself, in the thread that sends: a load beside which something is to be
   * measured should cost little, and a ZeroMQ socket's own thread costs more than what is measured.
   *
   * <p>Nothing is dropped once a subscriber is there: who sends waits for room in its connection.
   *
   * <p>Confined to the sending thread.
   */
  static final class BatchPublisher implements AutoCloseable {

    private final List<ServerSocketChannel> listeners = new ArrayList<>();
    private final List<@Nullable ZmtpPeer> peers = new ArrayList<>();

    /** Listens for each engine, on ports of the loopback that are free. */
    BatchPublisher(int engines) {
      try {
        for (int i = 0; i < engines; i++) {
          ServerSocketChannel listener = ServerSocketChannel.open();
          listeners.add(listener);
          peers.add(null);
          listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
          listener.configureBlocking(false);
        }
      } catch (IOException e) {
        close();
        throw new UncheckedIOException(e);
      }
    }

    /** Where the engine with this number sends. */
    public String endpoint(int engine) {
      return "tcp://127.0.0.1:" + listeners.get(engine).socket().getLocalPort();
    }

    /** Sends one batch of an engine; dropped as long as nobody has connected. */
    public void send(int engine, long sequence, byte[] payload) {
      try {
        ZmtpPeer peer = peers.get(engine);
        if (peer == null) {
          peer = ZmtpPeer.accept(listeners.get(engine));
          peers.set(engine, peer);
        }
        if (peer != null) {
          peer.send(sequence, payload);
        }
      } catch (IOException e) {
        throw new UncheckedIOException("engine=" + engine, e);
      }
    }

    @Override
    public void close() {
      try {
        for (ZmtpPeer peer : peers) {
          if (peer != null) {
            peer.close();
          }
        }
        for (ServerSocketChannel listener : listeners) {
          listener.close();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /**
     * One subscriber of a publisher that speaks ZMTP 3.0 (RFC 23) with the NULL mechanism, and
     * takes for granted that everything is subscribed to.
     *
     * <p>Confined to its thread.
     */
    private static final class ZmtpPeer implements AutoCloseable {

      private static final int HANDSHAKE_MILLIS = 1_000;
      private static final int GREETING_BYTES = 64;

      /**
       * Of the greeting, the part that is answered before the rest is sent, as libzmq does. JeroMQ,
       * which may lose a connection's place in its selector while it connects, notices that only
       * while a greeting is incomplete.
       */
      private static final int SIGNATURE_BYTES = 10;

      private static final int MECHANISM_AT = 12;
      private static final byte MORE = 1;
      private static final byte LONG = 2;
      private static final byte COMMAND = 4;
      private static final int MOST_SHORT = 255;

      /** Flags and length of three frames, topic and sequence among them. */
      private static final int MOST_AROUND = 32;

      private final SocketChannel channel;
      private ByteBuffer out = ByteBuffer.allocateDirect(1 << 16);

      private ZmtpPeer(SocketChannel channel) {
        this.channel = channel;
      }

      /**
       * Shakes hands with who has connected, if somebody has; returns once it has subscribed, or
       * null if it gave up: it will connect again.
       */
      static @Nullable ZmtpPeer accept(ServerSocketChannel listener) throws IOException {
        SocketChannel channel = listener.accept();
        if (channel == null) {
          return null;
        }
        ZmtpPeer peer = new ZmtpPeer(channel);
        try {
          channel.configureBlocking(true);
          channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
          channel.socket().setSoTimeout(HANDSHAKE_MILLIS);
          peer.shakeHands();
          return peer;
        } catch (IOException e) {
          peer.close();
          return null;
        }
      }

      /** Sends topic (empty), sequence and payload as one message. */
      void send(long sequence, byte[] payload) throws IOException {
        if (out.capacity() < payload.length + MOST_AROUND) {
          out = ByteBuffer.allocateDirect(2 * payload.length + MOST_AROUND);
        }
        out.clear().put(MORE).put((byte) 0);
        out.put(MORE).put((byte) Long.BYTES).putLong(sequence);
        if (payload.length <= MOST_SHORT) {
          out.put((byte) 0).put((byte) payload.length);
        } else {
          out.put(LONG).putLong(payload.length);
        }
        write(out.put(payload));
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }

      private void shakeHands() throws IOException {
        byte[] greeting = new byte[GREETING_BYTES];
        greeting[0] = (byte) 0xff;
        greeting[9] = 0x7f;
        greeting[10] = 3;
        byte[] mechanism = ascii("NULL");
        System.arraycopy(mechanism, 0, greeting, MECHANISM_AT, mechanism.length);
        int rest = GREETING_BYTES - SIGNATURE_BYTES;
        write(ByteBuffer.allocate(SIGNATURE_BYTES).put(greeting, 0, SIGNATURE_BYTES));
        read(SIGNATURE_BYTES);
        write(ByteBuffer.allocate(rest).put(greeting, SIGNATURE_BYTES, rest));
        byte[] theirs = read(rest);
        int theirMechanismAt = MECHANISM_AT - SIGNATURE_BYTES;
        if (!Arrays.equals(
            theirs,
            theirMechanismAt,
            theirMechanismAt + mechanism.length,
            mechanism,
            0,
            mechanism.length)) {
          throw new IOException("the subscriber wants a mechanism other than NULL");
        }
        readFrame(); // its READY
        write(ready());
        readFrame(); // its subscription
      }

      private static ByteBuffer ready() {
        byte[] name = ascii("READY");
        byte[] key = ascii("Socket-Type");
        byte[] value = ascii("PUB");
        ByteBuffer body = ByteBuffer.allocate(MOST_SHORT);
        body.put((byte) name.length).put(name).put((byte) key.length).put(key);
        body.putInt(value.length).put(value).flip();
        return ByteBuffer.allocate(MOST_SHORT).put(COMMAND).put((byte) body.remaining()).put(body);
      }

      private void write(ByteBuffer filled) throws IOException {
        filled.flip();
        while (filled.hasRemaining()) {
          channel.write(filled);
        }
      }

      private void readFrame() throws IOException {
        byte[] head = read(2);
        if ((head[0] & LONG) != 0) {
          throw new IOException("the subscriber sent a long frame in the handshake");
        }
        read(head[1] & MOST_SHORT);
      }

      private byte[] read(int bytes) throws IOException {
        byte[] in = channel.socket().getInputStream().readNBytes(bytes);
        if (in.length < bytes) {
          throw new EOFException("the subscriber left during the handshake");
        }
        return in;
      }

      private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
      }
    }
  }
}

package dev.warmpath.router.cluster;

import dev.warmpath.router.config.ClusterConfig;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Transports;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Routers that meet in the channels of a Redis or Valkey server: each says every second that it is
 * there. Nothing is stored.
 *
 * <p>Thread-safe.
 */
final class RedisLink implements ClusterLink {

  /*
   *  broadcast, send ─ PUBLISH ─▶ channel of all, channel of one ─▶ received
   *  thread warmpath-redis ─ each second ─▶ DEL of a key that is not there
   *                                         PUBLISH to all that we are here, which must come back
   *
   * Who was heard in the last HEARD_MILLIS is reachable, until it says that it leaves. Nothing is
   * stored, since a server that is shared with a cache is full or evicts, one whose disk is full or
   * that misses its replicas refuses writes, and all of them publish as ever.
   *
   * DEL asks whether the server is the one that is written to: one that was made a replica keeps its
   * connections, and publishes to those only that it has. It refuses any write, also without effect.
   *
   * Lettuce does not connect again by itself (but for a Redis Cluster, whose connections it makes
   * as they are needed, and only so): whatever fails, or does not come back through the
   * subscription, ends both connections, and the thread begins anew with what the address means
   * then. So a server that hangs, a subscription that is half open (github.com/redis/lettuce/issues/1428),
   * a failover and a changed address are one case.
   *
   * What is said each second carries when that was, and only what was said lately counts when it
   * comes back: a slow line brings something all the time, and all of it is old.
   *
   * What was given to Lettuce and is not acknowledged counts as waiting, and is bounded.
   *
   *  kind (1) | start (8) | length of the name (2) | name | message
   */

  private static final Logger LOG = LoggerFactory.getLogger(RedisLink.class);

  private static final byte MESSAGE = 0;
  private static final byte HERE = 1;
  private static final byte CAME = 2;
  private static final byte LEFT = 3;

  private static final int HEARD_MILLIS = 3_000;
  private static final int TICK_MILLIS = HEARD_MILLIS / 3;

  /** Who comes is told at once that we are here, but not more often. */
  private static final int SPACING_MILLIS = 50;

  /** Messages are dropped while nothing younger has come back: a line that is slow gets no more. */
  private static final int STALE_MILLIS = 2 * TICK_MILLIS;

  private static final int ANSWER_MILLIS = 1_500;
  private static final int FIRST_RETRY_MILLIS = 200;
  private static final int LAST_RETRY_MILLIS = 2_000;
  private static final int LEAVE_MILLIS = 500;

  /** Commands without an answer; PUBLISH is refused beyond. */
  private static final int COMMANDS = 8_192;

  /** Others that there may be; more are refused. */
  private static final int MOST_OTHERS = 1_024;

  /** Errors of a server that is the right one and only may not write. */
  private static final List<String> CANNOT_WRITE = List.of("MISCONF", "NOREPLICAS", "OOM");

  private final RouterId self;
  private final ClusterConfig config;
  private final LongSupplier nanoClock;
  private final long queueBytes;
  private final byte[] ownId;
  private final byte[] noKey;
  private final byte[] toAll;
  private final Thread thread = new Thread(this::run, "warmpath-redis");
  private final Semaphore wake = new Semaphore(0);

  private final LongAdder sent = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final AtomicLong waiting = new AtomicLong();

  private @Nullable Listener listener;
  private volatile boolean closed;
  private volatile @Nullable Session session;

  /** When each other was heard. */
  private final Map<RouterId, Long> heard = new HashMap<>();

  private volatile Set<RouterId> others = Set.of();

  /** When that was said which has come back last. */
  private volatile long echoNanos;

  /** Whether anything has come back since the last connect. */
  private volatile boolean echoed;

  private volatile String problem = "connecting to Redis";

  RedisLink(RouterId self, ClusterConfig config, LongSupplier nanoClock) {
    this.self = self;
    this.config = config;
    this.nanoClock = nanoClock;
    this.queueBytes = config.queueKb() * 1024L;
    this.ownId = write(self);
    this.noKey = bytes("warmpath:{" + config.name() + "}:none");
    this.toAll = bytes("warmpath:{" + config.name() + "}:all");
    thread.setDaemon(true);
  }

  private byte[] channel(RouterId of) {
    return bytes("warmpath:{" + config.name() + "}:to:" + of);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] write(RouterId id) {
    byte[] name = bytes(id.name());
    return ByteBuffer.allocate(Long.BYTES + Short.BYTES + name.length)
        .putLong(id.start())
        .putShort((short) name.length)
        .put(name)
        .array();
  }

  /** Reads what {@link #write} wrote; null if it did not. */
  private static @Nullable RouterId id(ByteBuffer from) {
    if (from.remaining() < Long.BYTES + Short.BYTES) {
      return null;
    }
    long start = from.getLong();
    int length = Short.toUnsignedInt(from.getShort());
    if (length > from.remaining()) {
      return null;
    }
    ByteBuffer name = from.slice().limit(length);
    from.position(from.position() + length);
    try {
      return new RouterId(StandardCharsets.UTF_8.newDecoder().decode(name).toString(), start);
    } catch (CharacterCodingException | IllegalArgumentException e) {
      return null;
    }
  }

  private byte[] frame(byte kind, byte[] message) {
    return ByteBuffer.allocate(1 + ownId.length + message.length)
        .put(kind)
        .put(ownId)
        .put(message)
        .array();
  }

  @Override
  public void begin(Listener to) {
    listener = to;
    thread.start();
  }

  @Override
  public void broadcast(byte[] message) {
    check(message);
    if (!others.isEmpty()) {
      publish(toAll, message);
    }
  }

  @Override
  public void send(RouterId to, byte[] message) {
    check(message);
    if (others.contains(to)) {
      publish(channel(to), message);
    } else {
      dropped.increment();
    }
  }

  private static void check(byte[] message) {
    if (message.length == 0 || message.length > LONGEST_MESSAGE) {
      throw new IllegalArgumentException("length=" + message.length);
    }
  }

  private void publish(byte[] channel, byte[] message) {
    Session open = session;
    if (open == null || isOlder(echoNanos, STALE_MILLIS)) {
      dropped.increment();
      return;
    }
    if (waiting.addAndGet(message.length) > queueBytes) {
      waiting.addAndGet(-message.length);
      dropped.increment();
      return;
    }
    byte[] frame = frame(MESSAGE, message);
    try {
      open.commands
          .publish(channel, frame)
          .whenComplete((receivers, failure) -> published(message.length, failure));
      sent.add(frame.length);
    } catch (RuntimeException e) {
      published(message.length, e);
    }
  }

  private boolean isOlder(long thenNanos, int millis) {
    return nanoClock.getAsLong() - thenNanos > TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void published(int length, @Nullable Throwable failure) {
    waiting.addAndGet(-length);
    if (failure != null) {
      dropped.increment();
    }
  }

  @Override
  public Status status() {
    String alone = others.isEmpty() ? "no other router is heard through Redis" : "";
    return new Status(
        sent.sum(),
        received.sum(),
        dropped.sum(),
        refused.sum(),
        waiting.get(),
        problem.isEmpty() ? alone : problem);
  }

  @Override
  public boolean mayReachMore() {
    return session == null;
  }

  @Override
  public void close() {
    closed = true;
    wake.release();
    try {
      thread.join(2 * ANSWER_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // The thread

  private void run() {
    ClientResources resources =
        DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .build();
    // The timer of a connection that could not be made ends after its client: what that calls
    // lives.
    var unusedGroup = resources.eventLoopGroupProvider().allocate(Transports.eventLoopGroupClass());
    try {
      int retryMillis = FIRST_RETRY_MILLIS;
      while (!closed) {
        boolean worked = follow(resources);
        retryMillis = worked ? FIRST_RETRY_MILLIS : Math.min(2 * retryMillis, LAST_RETRY_MILLIS);
        wake.drainPermits();
        if (!closed) {
          wake.tryAcquire(retryMillis, TimeUnit.MILLISECONDS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      var unused = resources.shutdown(0, LEAVE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Until something fails; returns whether it worked before. */
  private boolean follow(ClientResources resources) throws InterruptedException {
    boolean worked = false;
    Session open;
    try {
      open = new Session(resources);
    } catch (RuntimeException e) {
      failed(e);
      return false;
    }
    try {
      open.connect();
      byte kind = CAME;
      while (!closed) {
        tick(open, kind);
        kind = HERE;
        if (!worked && echoed) {
          worked = true;
          say(problem.startsWith("connecting") ? "is connected" : "is reached again");
          problem = "";
        }
        wake.tryAcquire(TICK_MILLIS, TimeUnit.MILLISECONDS);
        wake.drainPermits();
        if (!closed) {
          TimeUnit.MILLISECONDS.sleep(SPACING_MILLIS);
        }
      }
      leave(open);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      failed(e);
    } finally {
      session = null;
      open.close();
      forgetAll();
    }
    return worked;
  }

  private void say(String what) {
    LOG.info("cluster {}: Redis {}", config.name(), what);
  }

  private void failed(Exception e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String text =
        root instanceof TimeoutException ? "no answer" : String.valueOf(root.getMessage());
    String why = "Redis at " + config.redisUrl() + ": " + text;
    if (!closed && !why.equals(problem)) {
      LOG.warn("cluster {}: {}; goes on alone", config.name(), why);
    }
    problem = why;
  }

  private void tick(Session open, byte kind) throws Exception {
    try {
      open.commands.del(noKey).get(ANSWER_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      String error = cause == null ? "" : String.valueOf(cause.getMessage());
      if (CANNOT_WRITE.stream().noneMatch(error::startsWith)) {
        throw e;
      }
    }
    long now = nanoClock.getAsLong();
    if (open.isBroken) {
      throw new IOException("nothing comes through the subscription");
    }
    if (isOlder(echoNanos, HEARD_MILLIS)) {
      throw new TimeoutException("nothing comes back in time");
    }
    synchronized (heard) {
      session = open;
      heard.values().removeIf(at -> now - at > TimeUnit.MILLISECONDS.toNanos(HEARD_MILLIS));
      reach();
    }
    byte[] said = ByteBuffer.allocate(Long.BYTES).putLong(nanoClock.getAsLong()).array();
    var unused = open.commands.publish(toAll, frame(kind, said));
  }

  /** Tells who is reachable now, if that has changed. */
  private void reach() {
    Listener to = listener;
    if (!heard.keySet().equals(others) && to != null) {
      others = Set.copyOf(heard.keySet());
      LOG.info("cluster {}: reaches {}", config.name(), new TreeSet<>(others));
      to.reachable(others);
    }
  }

  private void forgetAll() {
    synchronized (heard) {
      heard.clear();
      reach();
    }
  }

  private void leave(Session open) throws Exception {
    open.commands.publish(toAll, frame(LEFT, new byte[0])).get(LEAVE_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void take(byte[] frame) {
    ByteBuffer from = ByteBuffer.wrap(frame);
    byte kind = frame.length == 0 ? -1 : from.get();
    RouterId sender = kind < MESSAGE || kind > LEFT ? null : id(from);
    if (sender == null || from.remaining() > LONGEST_MESSAGE) {
      refused.increment();
      return;
    }
    if (sender.equals(self)) {
      if (from.remaining() == Long.BYTES && kind != MESSAGE) {
        long saidNanos = from.getLong();
        if (saidNanos - echoNanos > 0) { // else of a connection before this one
          echoNanos = saidNanos;
          if (!echoed) {
            echoed = true;
            wake.release();
          }
        }
      }
      return;
    }
    received.add(frame.length);
    boolean isMessage = kind == MESSAGE;
    if (!note(sender, kind) || (isMessage && !from.hasRemaining())) {
      refused.increment();
      return;
    }
    Listener to = listener;
    if (kind == CAME) {
      wake.release();
    } else if (isMessage && to != null) {
      to.received(sender, Arrays.copyOfRange(frame, from.position(), frame.length));
    }
  }

  /** Somebody was heard; false if it finds no room. */
  private boolean note(RouterId sender, byte kind) {
    synchronized (heard) {
      if (session == null) {
        return true; // of a connection that is given up
      }
      if (kind == LEFT) {
        heard.remove(sender);
      } else if (heard.containsKey(sender) || heard.size() < MOST_OTHERS) {
        heard.put(sender, nanoClock.getAsLong());
      } else {
        return false;
      }
      reach();
      return true;
    }
  }

  /** Two connections of one client, from a connect to a failure. */
  private final class Session extends RedisPubSubAdapter<byte[], byte[]>
      implements RedisConnectionStateListener, AutoCloseable {

    private final AbstractRedisClient client;
    private volatile boolean isBroken;

    @SuppressWarnings("NullAway.Init") // by connect
    private RedisClusterAsyncCommands<byte[], byte[]> commands;

    Session(ClientResources resources) {
      List<RedisURI> servers = servers();
      if (servers.size() > 1) {
        RedisClusterClient cluster = RedisClusterClient.create(resources, servers);
        cluster.setOptions(options(ClusterClientOptions.builder()).build());
        client = cluster;
      } else {
        RedisClient single = RedisClient.create(resources, servers.get(0));
        single.setOptions(options(ClientOptions.builder()).build());
        client = single;
      }
    }

    private <B extends ClientOptions.Builder> B options(B builder) {
      builder
          .autoReconnect(builder instanceof ClusterClientOptions.Builder)
          .pingBeforeActivateConnection(false) // refused where the disk is full
          .replayFilter(command -> true) // none is sent again
          .requestQueueSize(COMMANDS)
          .protocolVersion(ProtocolVersion.RESP2)
          .maintNotificationsConfig(MaintNotificationsConfig.disabled())
          .socketOptions(
              SocketOptions.builder()
                  .connectTimeout(Duration.ofMillis(ANSWER_MILLIS))
                  .keepAlive(true)
                  .tcpNoDelay(true)
                  .build());
      return builder;
    }

    void connect() {
      StatefulRedisPubSubConnection<byte[], byte[]> subscription;
      if (client instanceof RedisClusterClient cluster) {
        subscription = cluster.connectPubSub(ByteArrayCodec.INSTANCE);
        commands = cluster.connect(ByteArrayCodec.INSTANCE).async();
      } else {
        RedisClient single = (RedisClient) client;
        subscription = single.connectPubSub(ByteArrayCodec.INSTANCE);
        commands = single.connect(ByteArrayCodec.INSTANCE).async();
      }
      subscription.addListener((RedisConnectionStateListener) this);
      subscription.addListener((RedisPubSubListener<byte[], byte[]>) this);
      echoed = false;
      echoNanos = nanoClock.getAsLong();
      subscription.sync().subscribe(toAll, channel(self));
    }

    @Override
    public void message(byte[] channel, byte[] message) {
      take(message);
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
      isBroken = true;
      wake.release();
    }

    @Override
    public void close() {
      client.shutdown(0, LEAVE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** One, or those of a Redis Cluster. */
  private List<RedisURI> servers() {
    URI given = URI.create(String.valueOf(config.redisUrl()));
    String authority = given.getRawAuthority();
    int at = authority.lastIndexOf('@');
    // Lettuce takes a user alone for a password.
    String url = given.toString().replace(authority, authority.substring(at + 1));
    String user =
        at < 0 ? null : URLDecoder.decode(authority.substring(0, at), StandardCharsets.UTF_8);
    boolean isCluster = authority.contains(",") && !given.getScheme().endsWith("-sentinel");
    List<RedisURI> servers =
        isCluster
            ? RedisClusterURIUtil.toRedisURIs(URI.create(url))
            : List.of(RedisURI.create(url));
    String password = config.redisPassword();
    for (RedisURI server : servers) {
      server.setTimeout(Duration.ofMillis(ANSWER_MILLIS));
      if (password != null) {
        server.setCredentialsProvider(new StaticCredentialsProvider(user, password.toCharArray()));
      }
    }
    return servers;
  }
}

package dev.warmpath.router.upstream;

import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.UpstreamConfig;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.security.PemFiles;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.impl.ConnectionBase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How each replica of the fleet is reached. Traffic, health checks and questions about tokens all
 * go by it.
 *
 * <p>Thread-safe.
 */
public final class Upstreams {

  private final UpstreamConfig standard;
  private final Vertx vertx;
  private final FileWatch watch;
  private final Map<Replica, Upstream> upstreams = new ConcurrentHashMap<>();
  private final Map<UpstreamConfig, Credentials> shared = new HashMap<>();

  /**
   * No replicas yet.
   *
   * @param standard for what a replica's own configuration leaves open
   */
  public Upstreams(UpstreamConfig standard, Vertx vertx, FileWatch watch) {
    this.standard = standard;
    this.vertx = vertx;
    this.watch = watch;
  }

  /**
   * Reads the files of a replica that may come.
   *
   * @throws IOException if one of them cannot be used; the message names it
   */
  public synchronized void prepare(URI url, UpstreamConfig own) throws IOException {
    credentials(used(url, own));
  }

  /**
   * Adds a replica that was prepared, before the fleet has it.
   *
   * @param address to connect to instead of looking up its host's name; null to look it up
   * @throws UncheckedIOException if its files cannot be used any more
   */
  public synchronized void add(Replica replica, UpstreamConfig own, @Nullable String address) {
    try {
      Credentials credentials = credentials(used(replica.baseUrl(), own));
      upstreams.put(replica, new Upstream(replica, credentials, address));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private UpstreamConfig used(URI url, UpstreamConfig own) {
    UpstreamConfig all = own.or(standard);
    return Upstream.isHttps(url) ? all : all.withoutTls();
  }

  private Credentials credentials(UpstreamConfig config) throws IOException {
    Credentials known = shared.get(config);
    if (known != null || config.files().isEmpty()) {
      return known == null ? Credentials.NONE : known;
    }
    Credentials fresh = new Credentials(config);
    watch.add(fresh.name(), config.files(), contents -> fresh.load(vertx, contents));
    shared.put(config, fresh);
    return fresh;
  }

  /** Forgets a replica that has left the fleet. */
  public synchronized void remove(Replica replica) {
    Upstream gone = upstreams.remove(replica);
    if (gone != null) {
      release(gone.credentials());
    }
  }

  /** Forgets the files of a replica that was prepared and does not come, if no other has them. */
  public synchronized void release(URI url, UpstreamConfig own) {
    Credentials prepared = shared.get(used(url, own));
    if (prepared != null) {
      release(prepared);
    }
  }

  private void release(Credentials credentials) {
    if (upstreams.values().stream().noneMatch(used -> used.credentials() == credentials)) {
      shared.remove(credentials.config());
      watch.remove(credentials.name());
    }
  }

  /** How a replica is reached; one that was never added, by its URL alone. */
  public Upstream of(Replica replica) {
    Upstream known = upstreams.get(replica);
    return known == null ? new Upstream(replica, Credentials.NONE, null) : known;
  }

  /** HTTP connections to replicas. */
  public HttpClient newConnections(HttpClientOptions options, PoolOptions pool) {
    return vertx
        .httpClientBuilder()
        .with(options)
        .with(pool)
        .withConnectHandler(AnswerHeads::on)
        .build();
  }

  /**
   * A client for questions to replicas, with connections of its own.
   *
   * @param name tells its connections apart in metrics
   */
  public EngineClient newClient(String name, EngineClient.Limits limits) {
    return new EngineClient(this, name, limits);
  }

  /**
   * Reads the heads of one connection's responses before Vert.x does, which takes an interim
   * response (1xx) for the final one and every number for a status, and keeps a connection whose
   * end is announced among other options of the header {@code Connection}. Interim responses are
   * dropped. One without a valid status ends the connection, as a response does that cannot be
   * read; so does 101, as nothing here asks for another protocol.
   *
   * <p>Confined to its event loop.
   */
  private static final class AnswerHeads extends ChannelInboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(AnswerHeads.class);
    private static final int SWITCHING_PROTOCOLS = 101;

    /** What becomes of a message that belongs to the last head. */
    private enum Reading {
      PASSES,
      IS_INTERIM,
      IS_OVER
    }

    private Reading reading = Reading.PASSES;

    private AnswerHeads() {}

    /** Reads what comes on a connection that is new. */
    static void on(HttpConnection connection) {
      ChannelHandlerContext vertx = ((ConnectionBase) connection).channelHandlerContext();
      ChannelPipeline pipeline = vertx.pipeline();
      pipeline.addBefore(vertx.name(), null, new AnswerHeads());
      connection.exceptionHandler(
          e -> LOG.debug("a connection to {} failed", connection.remoteAddress(), e));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (reading == Reading.PASSES && message instanceof HttpResponse head) {
        begin(context, head);
      }
      if (reading == Reading.PASSES) {
        context.fireChannelRead(message);
        return;
      }
      if (reading == Reading.IS_INTERIM && message instanceof LastHttpContent) {
        reading = Reading.PASSES;
      }
      ReferenceCountUtil.release(message);
    }

    private void begin(ChannelHandlerContext context, HttpResponse head) {
      int status = head.status().code();
      if (head.decoderResult().isFailure()) {
        return; // Vert.x ends the connection
      }
      if (status >= 100 && status < 200 && status != SWITCHING_PROTOCOLS) {
        reading = Reading.IS_INTERIM;
      } else if (status < 200 || status >= 600) {
        LOG.debug("{} sent the status {}", context.channel().remoteAddress(), status);
        reading = Reading.IS_OVER;
        var unused = context.close(); // one that fails has no one to tell
      } else if (endsConnection(head.headers())) {
        // Vert.x compares the first line of the header as a whole
        head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
    }

    private static boolean endsConnection(HttpHeaders headers) {
      return headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
    }
  }

  /**
   * What the router shows and believes at the replicas that share one {@link UpstreamConfig}, as
   * its files say now.
   *
   * <p>Thread-safe.
   */
  static final class Credentials {

    /** Of replicas that ask for nothing. */
    static final Credentials NONE = new Credentials(new UpstreamConfig(null, null, null, null));

    private final UpstreamConfig config;
    private volatile @Nullable String authorization;
    private volatile ClientSSLOptions tls = trusting();

    Credentials(UpstreamConfig config) {
      this.config = config;
    }

    private static ClientSSLOptions trusting() {
      return new ClientSSLOptions().setHostnameVerificationAlgorithm("HTTPS");
    }

    UpstreamConfig config() {
      return config;
    }

    /** What the watch calls its files. */
    String name() {
      return "upstream " + String.join(",", config.files().stream().map(Object::toString).toList());
    }

    @Nullable String authorization() {
      return authorization;
    }

    ClientSSLOptions tls() {
      return tls;
    }

    /** Takes over what the configured files hold, all or nothing. */
    void load(Vertx vertx, List<byte[]> contents) throws IOException {
      Iterator<byte[]> next = contents.iterator();
      String key = config.apiKeyFile() == null ? null : "Bearer " + key(next.next());
      ClientSSLOptions trusting = trusting();
      if (config.tlsCa() != null) {
        trusting.setTrustOptions(PemFiles.trust(next.next()));
      }
      if (config.tlsCert() != null) {
        trusting.setKeyCertOptions(PemFiles.keyCert(vertx, next.next(), next.next()));
      }
      authorization = key;
      tls = trusting;
    }

    private static String key(byte[] contents) throws IOException {
      String key = new String(contents, StandardCharsets.UTF_8).strip();
      if (key.isEmpty() || !key.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
        throw new IOException("the file must hold one key, of printable ASCII without spaces");
      }
      return key;
    }
  }
}

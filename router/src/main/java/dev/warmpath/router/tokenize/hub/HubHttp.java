package dev.warmpath.router.tokenize.hub;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the hub. Redirects are followed here and not by the client, so that the token goes to
 * the hub's own address (scheme, host and port) and never to another, such as the store of files
 * that the hub sends one to.
 *
 * <p>Confined to the thread that downloads.
 */
final class HubHttp {

  private static final int MOST_REDIRECTS = 5;
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final long POLL_MILLIS = 100;

  /** What a header may carry; the client's own complaint would show the value. */
  private static final Pattern TOKEN = Pattern.compile("[!-~]+");

  /**
   * When to give up an answer.
   *
   * @param received bytes so far
   * @param isLate whether the time for all is over
   */
  record Watch(LongSupplier received, BooleanSupplier isLate) {}

  private final HttpClient client;
  private final URI endpoint;
  private final @Nullable String token;
  private final long idleMillis;

  /**
   * @param idleMillis longest silence of a server
   */
  HubHttp(HubSettings settings, long idleMillis) throws HubFailure {
    this.endpoint = endpoint(settings.endpoint());
    this.token = settings.token();
    if (token != null && !TOKEN.matcher(token).matches()) {
      throw HubFailure.lasting("HF_TOKEN is no token: there are blanks or foreign letters in it");
    }
    this.idleMillis = idleMillis;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT)
            .build();
  }

  private static URI endpoint(String text) throws HubFailure {
    try {
      URI uri = new URI(text);
      if (isHttp(uri) && uri.getUserInfo() == null && uri.getRawQuery() == null) {
        return uri;
      }
    } catch (java.net.URISyntaxException e) {
      // said below, without what may be a password in it
    }
    throw HubFailure.lasting("HF_ENDPOINT must be http(s)://HOST[:PORT][/PATH]");
  }

  private static boolean isHttp(URI uri) {
    String scheme = uri.getScheme() == null ? "" : uri.getScheme();
    boolean known = scheme.equalsIgnoreCase("https") || scheme.equalsIgnoreCase("http");
    return known && uri.getHost() != null;
  }

  URI endpoint() {
    return endpoint;
  }

  boolean hasToken() {
    return token != null;
  }

  /**
   * The answer at the end of the redirects, or the first one whose headers are {@code enough}.
   *
   * @param path below the endpoint
   */
  <T> HttpResponse<T> send(
      String method, String path, Map<String, String> headers, Exchange<T> exchange)
      throws IOException, InterruptedException {
    URI at = URI.create(endpoint + path);
    for (int hop = 0; hop <= MOST_REDIRECTS; hop++) {
      HttpRequest request = request(method, at, headers);
      HttpResponse<T> response =
          await(client.sendAsync(request, exchange.body()), exchange.watch(), at);
      String location = location(response);
      if (location == null || exchange.enough().test(response.headers())) {
        return response;
      }
      at = next(at, location);
    }
    throw HubFailure.lasting("more than " + MOST_REDIRECTS + " redirects");
  }

  /** How an answer is taken. */
  record Exchange<T>(BodyHandler<T> body, Watch watch, Predicate<HttpHeaders> enough) {}

  private HttpRequest request(String method, URI at, Map<String, String> headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(at)
            .method(method, BodyPublishers.noBody())
            .header("User-Agent", "warmpath")
            .header("Accept-Encoding", "identity");
    headers.forEach(request::header);
    if (token != null && isSameOrigin(endpoint, at)) {
      request.header("Authorization", "Bearer " + token);
    }
    return request.build();
  }

  static boolean isSameOrigin(URI one, URI other) {
    return one.getScheme().equalsIgnoreCase(other.getScheme())
        && one.getHost().equalsIgnoreCase(other.getHost())
        && port(one) == port(other);
  }

  private static int port(URI uri) {
    int usual = uri.getScheme().equalsIgnoreCase("https") ? 443 : 80;
    return uri.getPort() < 0 ? usual : uri.getPort();
  }

  private static @Nullable String location(HttpResponse<?> response) {
    return switch (response.statusCode()) {
      case 301, 302, 303, 307, 308 -> response.headers().firstValue("Location").orElse(null);
      default -> null;
    };
  }

  private static URI next(URI at, String location) throws HubFailure {
    URI next;
    try {
      next = at.resolve(location);
    } catch (IllegalArgumentException e) {
      throw HubFailure.lasting(at.getHost() + " redirects to what is no address");
    }
    if (!isHttp(next) || (isSecure(at) && !isSecure(next))) {
      throw HubFailure.lasting(at.getHost() + " redirects to an address that is not secure");
    }
    return next;
  }

  private static boolean isSecure(URI uri) {
    return uri.getScheme().equalsIgnoreCase("https");
  }

  private <T> HttpResponse<T> await(CompletableFuture<HttpResponse<T>> answer, Watch watch, URI at)
      throws IOException, InterruptedException {
    long seen = watch.received().getAsLong();
    long idle = 0;
    try {
      while (true) {
        try {
          return answer.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          long now = watch.received().getAsLong();
          idle = now == seen ? idle + POLL_MILLIS : 0;
          seen = now;
          if (idle >= idleMillis || watch.isLate().getAsBoolean()) {
            throw HubFailure.passing(at.getHost() + " is silent");
          }
        }
      }
    } catch (ExecutionException e) {
      throw failure(e, at);
    } finally {
      answer.cancel(true);
    }
  }

  private static HubFailure failure(Throwable e, URI at) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof HubFailure own) {
        return own;
      }
    }
    Throwable cause = e.getCause() == null ? e : e.getCause();
    String why = cause.getMessage() == null ? "" : ": " + cause.getMessage();
    return HubFailure.passing(at.getHost() + ": " + cause.getClass().getSimpleName() + why);
  }

  /** A body that is taken piece by piece; what the sink throws ends it. */
  static final class Pieces implements BodySubscriber<Boolean> {

    /** Where the pieces go. */
    interface Sink {
      void take(List<ByteBuffer> pieces) throws HubFailure;
    }

    private final Sink sink;
    private final CompletableFuture<Boolean> end = new CompletableFuture<>();
    private Flow.@Nullable Subscription source;

    Pieces(Sink sink) {
      this.sink = sink;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      source = subscription;
      subscription.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> pieces) {
      Flow.Subscription from = source;
      if (from == null || end.isDone()) {
        return;
      }
      try {
        sink.take(pieces);
        from.request(1);
      } catch (HubFailure e) {
        end.completeExceptionally(e);
        from.cancel();
      }
    }

    @Override
    public void onError(Throwable problem) {
      end.completeExceptionally(problem);
    }

    @Override
    public void onComplete() {
      end.complete(true);
    }

    @Override
    public CompletionStage<Boolean> getBody() {
      return end;
    }
  }
}

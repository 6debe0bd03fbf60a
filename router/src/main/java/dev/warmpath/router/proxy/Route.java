package dev.warmpath.router.proxy;

import dev.warmpath.tokenizer.RequestKind;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One path that the router answers.
 *
 * <p>Immutable.
 *
 * @param path the path, also a metric label; {@code ID} stands for the id of a stored response or a
 *     model
 * @param methods the methods it takes
 * @param work what a request costs its engine
 * @param kind how its prompts are read; null if they are not
 * @param page the page that the router answers itself; null for a path that a replica answers
 */
public record Route(
    String path, List<String> methods, Work work, @Nullable RequestKind kind, @Nullable Page page) {

  /** What the router answers itself. */
  public enum Page {
    MODELS,
    MODEL,
    HEALTH,
    LIVE,
    READY,
    METRICS
  }

  /** What a request costs its engine. */
  public enum Work {
    /** It computes the request's texts. */
    COMPUTES,
    /** Next to nothing. */
    LOOKS_UP
  }

  public Route {
    methods = List.copyOf(methods);
  }

  static Route prompt(String path, RequestKind kind) {
    return new Route(path, List.of("POST"), Work.COMPUTES, kind, null);
  }

  static Route computing(String path) {
    return new Route(path, List.of("POST"), Work.COMPUTES, null, null);
  }

  static Route lookup(String path, String... methods) {
    return new Route(path, List.of(methods), Work.LOOKS_UP, null, null);
  }

  static Route page(String path, Page page) {
    return new Route(path, List.of("GET", "HEAD"), Work.LOOKS_UP, null, page);
  }

  /** The same with the methods of {@code other}, if a replica answers it. */
  Route with(Route other) {
    if (page != null) {
      return this;
    }
    List<String> both = Stream.concat(methods.stream(), other.methods.stream()).distinct().toList();
    return new Route(path, both, work, kind, null);
  }

  /** Whether an engine computes what is asked for. */
  public boolean computes() {
    return work == Work.COMPUTES;
  }

  /** Whether it answers {@code method}. */
  public boolean takes(String method) {
    return methods.contains(method);
  }

  /** The methods it takes, as the header {@code Allow} lists them. */
  public String allowed() {
    return String.join(", ", methods);
  }

  /** Whether it is answered to clients with an API key only, if there are keys. */
  public boolean needsKey() {
    return page == null || page == Page.MODELS || page == Page.MODEL || page == Page.METRICS;
  }

  /** Whether a stream's events have types, its errors too. */
  public boolean isResponses() {
    return path.startsWith("/v1/responses");
  }

  /** Whether clients expect errors in Anthropic's form, and not in OpenAI's. */
  public boolean isAnthropic() {
    return path.startsWith("/v1/messages");
  }
}

package dev.warmpath.router.members;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.ServerWebSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * As much of an API server as a source asks: lists and watches objects of one namespace, by labels
 * or name, and gets them. What a real one does is shown by {@link KubernetesServerTest}.
 */
final class ApiServer implements AutoCloseable {

  private static final String NAMESPACE = "/namespaces/test/";

  /**
   * What happened to an object.
   *
   * @param before what it was; null if it was not there
   * @param after what it is; null if it is not there any more
   */
  private record Event(long version, String path, HasMetadata before, HasMetadata after) {}

  /** What a list or a watch asks for. */
  private record Query(String path, String labels, String fields) {

    boolean matches(HasMetadata object) {
      return object != null
          && matches(labels, object.getMetadata().getLabels())
          && matches(fields, Map.of("metadata.name", object.getMetadata().getName()));
    }

    private static boolean matches(String selector, Map<String, String> values) {
      Map<String, String> all = values == null ? Map.of() : values;
      return selector == null
          || Stream.of(selector.split(","))
              .allMatch(term -> {
                String[] words = term.split("!?=", 2);
                return words[1].equals(all.get(words[0])) != term.contains("!=");
              });
    }
  }

  private record Watch(ServerWebSocket socket, Query query) {}

  private final Vertx vertx = Vertx.vertx();
  private final HttpServer server;
  private final Map<String, HasMetadata> objects = new TreeMap<>();
  private final List<Event> events = new ArrayList<>();
  private final List<Watch> watches = new ArrayList<>();
  private long version;
  private int watchesGone;
  private String forbidden = "";
  private Set<HttpMethod> forbiddenMethods = Set.of();
  private String unserved = "";
  private String failing = "";
  private int failingStatus;
  private final List<String> tries = new ArrayList<>();
  private final List<String> patches = new ArrayList<>();
  private Consumer<String> afterTry = name -> {};
  private int lists;

  ApiServer() {
    server =
        vertx
            .createHttpServer()
            .requestHandler(this::serve)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .join();
  }

  int port() {
    return server.actualPort();
  }

  synchronized int lists() {
    return lists;
  }

  /** The next watch ends as one whose version is too old. */
  synchronized void endNextWatch() {
    watchesGone = 1;
  }

  /** Requests for what ends so are refused; empty for none. */
  synchronized void forbid(String path) {
    forbidden = path;
  }

  /** Requests with this method are refused, whatever for. */
  synchronized void forbidMethod(HttpMethod method) {
    forbiddenMethods = Set.of(method);
  }

  /** Does this with the name of each object of which an empty patch has been answered. */
  synchronized void afterTry(Consumer<String> action) {
    afterTry = action;
  }

  /** Answers patches of that object with this status; an empty name for none. */
  synchronized void failPatches(String name, int status) {
    failing = name;
    failingStatus = status;
  }

  /** Serves no API group that begins so, as if its CRDs were not installed; empty for none. */
  synchronized void withoutGroup(String group) {
    unserved = group;
  }

  synchronized void put(HasMetadata object) {
    object.getMetadata().setResourceVersion(String.valueOf(++version));
    changed(path(object), objects.put(key(object), object), object);
  }

  synchronized void delete(HasMetadata object) {
    version++;
    changed(path(object), objects.remove(key(object)), null);
  }

  private static String path(HasMetadata object) {
    String api = object.getApiVersion();
    String plural = object.getKind().toLowerCase(Locale.ROOT) + "s";
    return (api.contains("/") ? "/apis/" : "/api/") + api + NAMESPACE + plural;
  }

  private static String key(HasMetadata object) {
    return path(object) + "/" + object.getMetadata().getName();
  }

  private void changed(String path, HasMetadata before, HasMetadata after) {
    Event event = new Event(version, path, before, after);
    events.add(event);
    watches.forEach(watch -> send(watch, event));
  }

  /** What does not match any more is deleted to a watch. */
  private static void send(Watch watch, Event event) {
    boolean matched = watch.query().matches(event.before());
    boolean matches = watch.query().matches(event.after());
    if (event.path().equals(watch.query().path()) && (matched || matches)) {
      String type = !matches ? "DELETED" : matched ? "MODIFIED" : "ADDED";
      HasMetadata object = matches ? event.after() : event.before();
      watch.socket().writeTextMessage(event(type, Serialization.asJson(object)));
    }
  }

  private static String event(String type, String object) {
    return "{\"type\":\"" + type + "\",\"object\":" + object + "}";
  }

  private synchronized void serve(HttpServerRequest request) {
    String path = request.path().replaceAll("/+", "/");
    Query query =
        new Query(path, request.getParam("labelSelector"), request.getParam("fieldSelector"));
    if (forbiddenMethods.contains(request.method())
        || (!forbidden.isEmpty() && path.endsWith(forbidden))) {
      fail(request, 403, "no " + path.substring(path.indexOf(NAMESPACE) + NAMESPACE.length()));
    } else if ("true".equals(request.getParam("watch"))) {
      request.toWebSocket().onSuccess(socket -> watch(socket, request, query));
    } else if (request.method() == HttpMethod.PATCH) {
      request.bodyHandler(body -> patch(request, path, body.toString()));
    } else if (objects.containsKey(path)) {
      request.response().end(Serialization.asJson(objects.get(path)));
    } else if (!isCollection(path)
        || (!unserved.isEmpty() && path.startsWith("/apis/" + unserved))) {
      fail(request, 404, "no " + path);
    } else {
      lists++;
      request.response().end(list(query));
    }
  }

  /** Merges annotations, and nothing else. */
  private synchronized void patch(HttpServerRequest request, String path, String body) {
    String name = path.substring(path.lastIndexOf('/') + 1);
    boolean isEmpty = body.equals("{}");
    if (isEmpty) {
      tries.add(name);
    }
    HasMetadata object = objects.get(path);
    if (!failing.isEmpty() && path.endsWith("/" + failing)) {
      fail(request, failingStatus, "not now");
      return;
    }
    if (object == null) {
      fail(request, 404, "no " + path);
      return;
    }
    if (isEmpty) {
      request.response().end(Serialization.asJson(object));
      afterTry.accept(name);
      return;
    }
    GenericKubernetesResource patch =
        Serialization.unmarshal(body, GenericKubernetesResource.class);
    String expected = patch.getMetadata().getResourceVersion();
    if (expected != null && !expected.equals(object.getMetadata().getResourceVersion())) {
      fail(request, 409, "the object has been modified");
      return;
    }
    patches.add(name);
    Map<String, String> merged = new TreeMap<>();
    if (object.getMetadata().getAnnotations() != null) {
      merged.putAll(object.getMetadata().getAnnotations());
    }
    merged.putAll(patch.getMetadata().getAnnotations());
    object.getMetadata().setAnnotations(merged);
    put(object);
    request.response().end(Serialization.asJson(object));
  }

  /** The names of patched objects, one for each patch that was not empty. */
  synchronized List<String> patches() {
    return List.copyOf(patches);
  }

  /** The names of objects that should be patched, one for each empty patch. */
  synchronized List<String> tries() {
    return List.copyOf(tries);
  }

  private static boolean isCollection(String path) {
    return path.lastIndexOf('/') == path.indexOf(NAMESPACE) + NAMESPACE.length() - 1;
  }

  private String list(Query query) {
    return objects.values().stream()
        .filter(object -> path(object).equals(query.path()))
        .filter(query::matches)
        .map(Serialization::asJson)
        .collect(
            Collectors.joining(
                ",",
                "{\"kind\":\"List\",\"apiVersion\":\"v1\","
                    + "\"metadata\":{\"resourceVersion\":\""
                    + version
                    + "\"},\"items\":[",
                "]}"));
  }

  private synchronized void watch(ServerWebSocket socket, HttpServerRequest request, Query query) {
    if (watchesGone > 0) {
      watchesGone--;
      socket.writeTextMessage(event("ERROR", status(410, "too old")));
      return;
    }
    long from = Long.parseLong(request.getParam("resourceVersion"));
    Watch watch = new Watch(socket, query);
    watches.add(watch);
    socket.closeHandler(closed -> forget(watch));
    events.stream().filter(event -> event.version() > from).forEach(event -> send(watch, event));
  }

  private synchronized void forget(Watch watch) {
    watches.remove(watch);
  }

  private static void fail(HttpServerRequest request, int code, String message) {
    request.response().setStatusCode(code).end(status(code, message));
  }

  private static String status(int code, String message) {
    return Serialization.asJson(
        new StatusBuilder().withStatus("Failure").withCode(code).withMessage(message).build());
  }

  @Override
  public void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}

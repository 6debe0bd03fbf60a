package dev.warmpath.router.members;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.ServerWebSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * As much of an API server as a source asks: lists and watches EndpointSlices of one namespace, by
 * labels, and gets its pods. What a real one does is shown by {@link KubernetesServerTest}.
 */
final class ApiServer implements AutoCloseable {

  private static final String BASE = "/namespaces/test/";

  private record Event(long version, String json, Map<String, String> labels) {}

  private record Watch(ServerWebSocket socket, String selector) {}

  private final Vertx vertx = Vertx.vertx();
  private final HttpServer server;
  private final Map<String, HasMetadata> objects = new TreeMap<>();
  private final List<Event> events = new ArrayList<>();
  private final List<Watch> watches = new ArrayList<>();
  private long version;
  private int watchesGone;
  private String forbidden = "";
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

  synchronized void put(HasMetadata object) {
    boolean isNew = objects.put(key(object), object) == null;
    changed(object, isNew ? "ADDED" : "MODIFIED");
  }

  synchronized void delete(HasMetadata object) {
    objects.remove(key(object));
    changed(object, "DELETED");
  }

  private static String key(HasMetadata object) {
    return (object instanceof EndpointSlice ? "endpointslices/" : "pods/")
        + object.getMetadata().getName();
  }

  private void changed(HasMetadata object, String type) {
    object.getMetadata().setResourceVersion(String.valueOf(++version));
    if (object instanceof EndpointSlice) {
      String json = event(type, Serialization.asJson(object));
      Event event = new Event(version, json, object.getMetadata().getLabels());
      events.add(event);
      watches.forEach(watch -> send(watch, event));
    }
  }

  private static String event(String type, String object) {
    return "{\"type\":\"" + type + "\",\"object\":" + object + "}";
  }

  private static void send(Watch watch, Event event) {
    if (matches(event.labels(), watch.selector())) {
      watch.socket().writeTextMessage(event.json());
    }
  }

  private static boolean matches(Map<String, String> labels, String selector) {
    return Stream.of(selector.split(","))
        .allMatch(term -> {
          String[] words = term.split("!?=", 2);
          return words[1].equals(labels.get(words[0])) != term.contains("!=");
        });
  }

  private synchronized void serve(HttpServerRequest request) {
    String path = request.path().substring(request.path().indexOf(BASE) + BASE.length());
    if (!forbidden.isEmpty() && path.endsWith(forbidden)) {
      fail(request, 403, "no " + path);
    } else if ("true".equals(request.getParam("watch"))) {
      request.toWebSocket().onSuccess(socket -> watch(socket, request));
    } else if (path.equals("endpointslices")) {
      lists++;
      request.response().end(list(request.getParam("labelSelector")));
    } else if (objects.containsKey(path)) {
      request.response().end(Serialization.asJson(objects.get(path)));
    } else {
      fail(request, 404, "no " + path);
    }
  }

  private String list(String selector) {
    return objects.values().stream()
        .filter(object -> object instanceof EndpointSlice)
        .filter(object -> matches(object.getMetadata().getLabels(), selector))
        .map(Serialization::asJson)
        .collect(
            Collectors.joining(
                ",",
                "{\"kind\":\"EndpointSliceList\",\"apiVersion\":\"discovery.k8s.io/v1\","
                    + "\"metadata\":{\"resourceVersion\":\""
                    + version
                    + "\"},\"items\":[",
                "]}"));
  }

  private synchronized void watch(ServerWebSocket socket, HttpServerRequest request) {
    if (watchesGone > 0) {
      watchesGone--;
      socket.writeTextMessage(event("ERROR", status(410, "too old")));
      return;
    }
    long from = Long.parseLong(request.getParam("resourceVersion"));
    Watch watch = new Watch(socket, request.getParam("labelSelector"));
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

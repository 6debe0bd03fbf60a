package dev.warmpath.router.picker;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.router.rig.Rig;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpTrailers;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A gateway that asks a picker: Envoy's own messages over one connection of HTTP/2. */
final class Gateway implements AutoCloseable {

  static final String DESTINATION = "x-gateway-destination-endpoint";

  private final HttpClient http;
  private final int port;

  Gateway(Rig rig, int port) {
    this(rig, port, new HttpClientOptions());
  }

  /** With TLS, or without. */
  Gateway(Rig rig, int port, HttpClientOptions options) {
    this.port = port;
    this.http =
        rig.vertx()
            .createHttpClient(
                options
                    .setProtocolVersion(HttpVersion.HTTP_2)
                    .setHttp2ClearTextUpgrade(false)
                    .setHttp2MultiplexingLimit(-1));
  }

  int port() {
    return port;
  }

  /** One request of a client. */
  Stream open() throws Exception {
    return new Stream(ExtProc.PROCESS);
  }

  Stream open(String path) throws Exception {
    return new Stream(path);
  }

  @Override
  public void close() {
    http.close().toCompletionStage().toCompletableFuture().join();
  }

  /** One call. */
  final class Stream {
    final List<ProcessingResponse> answers = new CopyOnWriteArrayList<>();
    final List<byte[]> messages = new CopyOnWriteArrayList<>();
    volatile String status;
    private final HttpClientRequest request;
    private Buffer rest = Buffer.buffer();
    private ProtocolConfiguration modes;
    private Metadata metadata = Metadata.getDefaultInstance();

    private Stream(String path) throws Exception {
      request =
          http.request(HttpMethod.POST, port, "127.0.0.1", path)
              .toCompletionStage()
              .toCompletableFuture()
              .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      request.setChunked(true).putHeader("content-type", "application/grpc");
      request.exceptionHandler(e -> status = "reset");
      request
          .response()
          .onSuccess(response -> {
            response.exceptionHandler(e -> status = "reset");
            response.handler(this::received);
            response.endHandler(v -> {
              String trailer = response.getTrailer("grpc-status");
              status = trailer == null ? response.getHeader("grpc-status") : trailer;
            });
          })
          .onFailure(e -> status = "reset");
    }

    private void received(Buffer chunk) {
      rest.appendBuffer(chunk);
      while (rest.length() >= 5 && rest.length() >= 5 + rest.getInt(1)) {
        byte[] message = rest.getBytes(5, 5 + rest.getInt(1));
        rest = rest.getBuffer(5 + message.length, rest.length());
        messages.add(message);
        try {
          answers.add(ProcessingResponse.parseFrom(message));
        } catch (InvalidProtocolBufferException e) {
          status = "unreadable";
        }
      }
    }

    /** The first message says how bodies come. */
    Stream modes(BodySendMode ofRequest, BodySendMode ofResponse) {
      modes =
          ProtocolConfiguration.newBuilder()
              .setRequestBodyMode(ofRequest)
              .setResponseBodyMode(ofResponse)
              .build();
      return this;
    }

    /** The next message holds this metadata. */
    Stream metadata(String space, String key, Value value) {
      Struct struct = Struct.newBuilder().putFields(key, value).build();
      metadata = Metadata.newBuilder().putFilterMetadata(space, struct).build();
      return this;
    }

    Stream send(ProcessingRequest.Builder message) {
      if (modes != null) {
        message.setProtocolConfig(modes);
        modes = null;
      }
      if (metadata.getFilterMetadataCount() > 0) {
        message.setMetadataContext(metadata);
        metadata = Metadata.getDefaultInstance();
      }
      return raw(message.build().toByteArray());
    }

    Stream raw(byte[] message) {
      request.write(
          Buffer.buffer().appendByte((byte) 0).appendInt(message.length).appendBytes(message));
      return this;
    }

    Stream post(String path, String... headers) {
      return head("POST", path, false, headers);
    }

    Stream head(String method, String path, boolean end, String... headers) {
      HeaderMap.Builder map = HeaderMap.newBuilder();
      map.addHeaders(header(":method", method)).addHeaders(header(":path", path));
      for (int i = 0; i < headers.length; i += 2) {
        map.addHeaders(header(headers[i], headers[i + 1]));
      }
      HttpHeaders.Builder head = HttpHeaders.newBuilder().setHeaders(map).setEndOfStream(end);
      return send(ProcessingRequest.newBuilder().setRequestHeaders(head));
    }

    private HeaderValue header(String name, String value) {
      return HeaderValue.newBuilder()
          .setKey(name)
          .setRawValue(ByteString.copyFromUtf8(value))
          .build();
    }

    Stream body(String piece, boolean end) {
      return send(ProcessingRequest.newBuilder().setRequestBody(piece(piece, end)));
    }

    Stream body(ByteString piece, boolean end) {
      return send(
          ProcessingRequest.newBuilder()
              .setRequestBody(HttpBody.newBuilder().setBody(piece).setEndOfStream(end)));
    }

    private HttpBody.Builder piece(String piece, boolean end) {
      return HttpBody.newBuilder().setBody(ByteString.copyFromUtf8(piece)).setEndOfStream(end);
    }

    Stream trailers() {
      return send(
          ProcessingRequest.newBuilder().setRequestTrailers(HttpTrailers.getDefaultInstance()));
    }

    Stream answerHead(int code, String contentType, boolean end, String... headers) {
      HeaderMap.Builder map =
          HeaderMap.newBuilder()
              .addHeaders(header(":status", Integer.toString(code)))
              .addHeaders(header("content-type", contentType));
      for (int i = 0; i < headers.length; i += 2) {
        map.addHeaders(header(headers[i], headers[i + 1]));
      }
      HttpHeaders.Builder head = HttpHeaders.newBuilder().setHeaders(map).setEndOfStream(end);
      return send(ProcessingRequest.newBuilder().setResponseHeaders(head));
    }

    Stream answer(String piece, boolean end) {
      return send(ProcessingRequest.newBuilder().setResponseBody(piece(piece, end)));
    }

    Stream answerTrailers() {
      return send(
          ProcessingRequest.newBuilder().setResponseTrailers(HttpTrailers.getDefaultInstance()));
    }

    /** The gateway is done with it. */
    void end() {
      request.end();
    }

    void reset() {
      request.reset(8);
    }

    ProcessingResponse await(int index) {
      Rig.until(() -> answers.size() > index || status != null);
      if (answers.size() <= index) {
        throw new AssertionError("status=" + status + " answers=" + answers);
      }
      return answers.get(index);
    }

    String awaitStatus() {
      Rig.until(() -> status != null);
      return status;
    }

    /** The endpoints that the head's or the body's answer names, as header and as metadata. */
    String picked(int index) {
      ProcessingResponse answer = await(index);
      String header = headers(mutation(answer)).get(DESTINATION);
      String told =
          answer
              .getDynamicMetadata()
              .getFieldsOrThrow("envoy.lb")
              .getStructValue()
              .getFieldsOrThrow(DESTINATION)
              .getStringValue();
      if (!told.equals(header)) {
        throw new AssertionError("header " + header + ", metadata " + told);
      }
      return told;
    }

    /** The pieces of the request's body that came back, from that answer on. */
    String echo(int from) {
      Rig.until(() ->
          answers.stream()
              .skip(from)
              .anyMatch(answer ->
                  answer.hasRequestTrailers()
                      || answer
                          .getRequestBody()
                          .getResponse()
                          .getBodyMutation()
                          .getStreamedResponse()
                          .getEndOfStream()));
      Buffer all = Buffer.buffer();
      answers.stream()
          .skip(from)
          .filter(ProcessingResponse::hasRequestBody)
          .map(answer ->
              answer.getRequestBody().getResponse().getBodyMutation().getStreamedResponse())
          .forEach(piece -> all.appendBytes(piece.getBody().toByteArray()));
      return all.toString(UTF_8);
    }
  }

  static HeaderMutation mutation(ProcessingResponse answer) {
    return switch (answer.getResponseCase()) {
      case REQUEST_HEADERS -> answer.getRequestHeaders().getResponse().getHeaderMutation();
      case RESPONSE_HEADERS -> answer.getResponseHeaders().getResponse().getHeaderMutation();
      case REQUEST_BODY -> answer.getRequestBody().getResponse().getHeaderMutation();
      case IMMEDIATE_RESPONSE -> answer.getImmediateResponse().getHeaders();
      default -> HeaderMutation.getDefaultInstance();
    };
  }

  static Map<String, String> headers(HeaderMutation mutation) {
    Map<String, String> headers = new java.util.HashMap<>();
    mutation
        .getSetHeadersList()
        .forEach(set ->
            headers.put(set.getHeader().getKey(), set.getHeader().getRawValue().toStringUtf8()));
    return headers;
  }

  static Value list(String... texts) {
    Value.Builder value = Value.newBuilder();
    for (String text : texts) {
      value.getListValueBuilder().addValues(Value.newBuilder().setStringValue(text));
    }
    value.getListValueBuilder();
    return value.build();
  }

  static Value text(String text) {
    return Value.newBuilder().setStringValue(text).build();
  }
}

package dev.warmpath.router.picker;

import dev.warmpath.router.picker.Wire.MalformedException;
import dev.warmpath.router.picker.Wire.Reader;
import dev.warmpath.router.picker.Wire.Writer;
import dev.warmpath.router.proxy.BodyRoom;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells tools such as {@code grpcurl} which services there are and what their messages hold: {@code
 * grpc.reflection.v1}, and {@code v1alpha}, which has the same messages.
 *
 * <p>Confined to its event loop.
 */
final class Reflection implements GrpcCall.Listener {

  private static final Set<String> PATHS =
      Set.of(
          "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
          "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");

  private static final int LONGEST_BYTES = 1 << 12;
  private static final int NOT_FOUND = 5;
  private static final int UNIMPLEMENTED = 12;

  /*
   * Of a request (ServerReflectionRequest) and its answer (ServerReflectionResponse). Extensions
   * are not told of: none of the services has any.
   */
  private static final int FILE_BY_NAME = 3;
  private static final int FILE_OF_SYMBOL = 4;
  private static final int LIST_SERVICES = 7;
  private static final int ORIGINAL_REQUEST = 2;
  private static final int FILES = 4;
  private static final int SERVICES = 6;
  private static final int ERROR = 7;

  private final GrpcCall call;

  Reflection(HttpServerRequest request, BodyRoom room) {
    call = new GrpcCall(request, LONGEST_BYTES, room, this);
  }

  static boolean isAt(String path) {
    return PATHS.contains(path);
  }

  void begin() {
    call.begin();
  }

  @Override
  public void message(byte[] message) throws MalformedException {
    int asked = 0;
    String name = "";
    Reader fields = new Reader(message);
    while (fields.next()) { // what is asked is a oneof: the last one counts
      int field = fields.field();
      if (field >= FILE_BY_NAME && field <= LIST_SERVICES) {
        asked = field;
        boolean isNamed = field == FILE_BY_NAME || field == FILE_OF_SYMBOL;
        name = isNamed ? fields.text() : "";
      }
    }
    Writer answer = new Writer().bytes(ORIGINAL_REQUEST, message);
    switch (asked) {
      case FILE_BY_NAME -> file(Files.ALL.byName.get(name), answer);
      case FILE_OF_SYMBOL -> file(Files.ALL.bySymbol.get(name), answer);
      case LIST_SERVICES -> {
        Writer list = new Writer();
        Files.ALL.services.forEach(service -> list.message(1, new Writer().text(1, service)));
        answer.message(SERVICES, list);
      }
      default -> answer.message(ERROR, error(UNIMPLEMENTED, "there are no extensions"));
    }
    call.send(answer.written());
    if (call.isFull()) {
      call.awaitRoom();
    }
  }

  private static void file(byte @Nullable [] file, Writer answer) {
    if (file == null) {
      answer.message(ERROR, error(NOT_FOUND, "there is no such file or symbol"));
    } else {
      answer.message(FILES, new Writer().bytes(1, file));
    }
  }

  private static Writer error(int code, String text) {
    return new Writer().number(1, code).text(2, text);
  }

  @Override
  public void halfClosed() {
    call.close(GrpcCall.Status.OK, "");
  }

  @Override
  public void gone() {}

  /** The published files that describe the services, as {@code FileDescriptorProto}. */
  private static final class Files {
    static final Files ALL = new Files();

    private static final int PACKAGE = 2;
    private static final int MESSAGE = 4;
    private static final int ENUM = 5;
    private static final int SERVICE = 6;

    /** Of a message that is described. */
    private static final int INNER_MESSAGE = 3;

    private static final int INNER_ENUM = 4;

    final Map<String, byte[]> byName = new HashMap<>();
    final Map<String, byte[]> bySymbol = new HashMap<>();
    final List<String> services = new ArrayList<>();

    private Files() {
      try (InputStream set = Reflection.class.getResourceAsStream("services.protoset")) {
        Reader files = new Reader(Objects.requireNonNull(set).readAllBytes());
        while (files.next()) {
          add(files.bytes());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (MalformedException e) {
        throw new IllegalStateException("services.protoset", e);
      }
    }

    private void add(byte[] file) throws MalformedException {
      String prefix = "";
      Reader fields = new Reader(file);
      while (fields.next()) {
        switch (fields.field()) {
          case 1 -> byName.put(fields.text(), file);
          case PACKAGE -> prefix = fields.text() + ".";
          case MESSAGE -> addMessage(prefix, fields.message(), fields.message(), file);
          case ENUM -> bySymbol.put(prefix + name(fields.message()), file);
          case SERVICE -> {
            String service = prefix + name(fields.message());
            services.add(service);
            bySymbol.put(service, file);
            Reader methods = fields.message();
            while (methods.next()) {
              if (methods.field() == 2) {
                bySymbol.put(service + "." + name(methods.message()), file);
              }
            }
          }
          default -> {}
        }
      }
    }

    /** With those inside. */
    private void addMessage(String prefix, Reader named, Reader fields, byte[] file)
        throws MalformedException {
      String message = prefix + name(named);
      bySymbol.put(message, file);
      while (fields.next()) {
        switch (fields.field()) {
          case INNER_MESSAGE -> addMessage(message + ".", fields.message(), fields.message(), file);
          case INNER_ENUM -> bySymbol.put(message + "." + name(fields.message()), file);
          default -> {}
        }
      }
    }

    private static String name(Reader described) throws MalformedException {
      while (described.next()) {
        if (described.field() == 1) {
          return described.text();
        }
      }
      throw new MalformedException("it has no name");
    }
  }
}

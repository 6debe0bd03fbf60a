package dev.warmpath.router.proxy;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import com.github.luben.zstd.util.Native;
import io.vertx.core.MultiMap;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import org.slf4j.LoggerFactory;

/**
 * How a client has coded its body (RFC 9110, 8.4): agents send long conversations as zstd or gzip,
 * which engines do not read. Names come from IANA's registry of HTTP content codings.
 */
public enum ContentCoding {
  IDENTITY {
    @Override
    InputStream decode(InputStream coded) {
      return coded;
    }
  },
  GZIP {
    @Override
    InputStream decode(InputStream coded) throws IOException {
      return new GZIPInputStream(coded, PIECE_BYTES);
    }
  },
  /** In zlib's frame, as the standard has it. */
  DEFLATE {
    @Override
    InputStream decode(InputStream coded) {
      return new InflaterInputStream(coded);
    }
  },
  ZSTD {
    @Override
    InputStream decode(InputStream coded) throws IOException {
      ZstdInputStreamNoFinalizer stream = new ZstdInputStreamNoFinalizer(coded);
      stream.setLongMax(WINDOW_LOG);
      return stream;
    }
  },
  /** One that is not known here, or several at once. */
  OTHER {
    @Override
    InputStream decode(InputStream coded) throws IOException {
      throw new IOException("unknown coding");
    }
  };

  /** Whether the library of zstd, which is native, could be loaded here. */
  private static final class Library {
    static final boolean LOADED = load();

    private static boolean load() {
      try {
        Native.load();
        return true;
      } catch (LinkageError | RuntimeException e) {
        LoggerFactory.getLogger(ContentCoding.class)
            .warn(
                "bodies compressed as zstd are refused: its library cannot be loaded: {}",
                e.toString());
        return false;
      }
    }
  }

  /** The codings that are understood, as a header lists them. */
  static String understood() {
    return Library.LOADED ? "zstd, gzip, deflate" : "gzip, deflate";
  }

  private static final int PIECE_BYTES = 1 << 13;

  /** A stream decodes with 8 MiB of memory, which is what senders may count on (RFC 9659, 3). */
  private static final int WINDOW_LOG = 23;

  /** The bytes that {@code coded} stands for; reading them fails if it is damaged or ends early. */
  abstract InputStream decode(InputStream coded) throws IOException;

  /** That of a request with these headers. */
  public static ContentCoding of(MultiMap headers) {
    if (!headers.contains("content-encoding")) {
      return IDENTITY;
    }
    List<String> names = new ArrayList<>();
    for (String value : headers.getAll("content-encoding")) {
      for (String name : value.split(",", -1)) {
        names.add(name.trim().toLowerCase(Locale.ROOT));
      }
    }
    names.removeAll(Arrays.asList("", "identity"));
    if (names.isEmpty()) {
      return IDENTITY;
    }
    return names.size() > 1
        ? OTHER
        : switch (names.get(0)) {
          case "gzip", "x-gzip" -> GZIP;
          case "deflate" -> DEFLATE;
          case "zstd" -> Library.LOADED ? ZSTD : OTHER;
          default -> OTHER;
        };
  }
}

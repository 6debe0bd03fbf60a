package dev.warmpath.router.prompt;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the fields of a {@code multipart/form-data} body that name something, in one pass that
 * copies nothing else: files stay where they are.
 *
 * <p>A form that engines may read otherwise than it is read here says nothing, so that no key lets
 * a model pass that it is not for: two boundaries, a part with two names, an encoded or folded
 * header, text before the first part, a missing end. What clients send has none of these.
 *
 * <p>Confined to one thread.
 */
final class FormBody {

  /*
   * RFC 7578 as python-multipart and Starlette read it, behind vLLM and SGLang: the first boundary
   * begins the body, behind line breaks at most; a boundary that neither a line break nor "--"
   * follows belongs to the value; of equal names the last counts; a part with a file name is a file
   * and no field. The boundary is searched by its last bytes first (Horspool), as a file may be large.
   */

  private static final String TYPE = "multipart/form-data";
  private static final byte[] LINE_BREAK = {'\r', '\n'};
  private static final byte[] HEADERS_END = {'\r', '\n', '\r', '\n'};
  private static final byte[] DASHES = {'-', '-'};
  private static final int LONGEST_BOUNDARY = 70;
  private static final int LONGEST_HEADERS = 8_192;
  private static final int LONGEST_VALUE = 1_024;
  private static final int BYTES_PER_TOKEN = 4;
  private static final Set<String> CHARSETS = Set.of("utf-8", "us-ascii");
  private static final Set<String> PLAIN_ENCODINGS = Set.of("7bit", "8bit", "binary");
  private static final Set<String> TRUE = Set.of("true", "1", "on", "t", "yes", "y");
  private static final int BYTE_VALUES = 256;

  private final byte[] body;
  private final byte[] delimiter;
  private final int[] shifts = new int[BYTE_VALUES];
  private final ObjectNode fields = JsonNodeFactory.instance.objectNode();
  private final NamedModels models = new NamedModels();
  private long textBytes;

  private FormBody(byte[] body, String boundary) {
    this.body = body;
    this.delimiter = ("\r\n--" + boundary).getBytes(ISO_8859_1);
    Arrays.fill(shifts, delimiter.length);
    for (int i = 0; i < delimiter.length - 1; i++) {
      shifts[delimiter[i] & 0xff] = delimiter.length - 1 - i;
    }
  }

  /** Whether a body of this type is a form. */
  static boolean isForm(@Nullable String contentType) {
    return contentType != null
        && contentType.stripLeading().regionMatches(true, 0, TYPE, 0, TYPE.length());
  }

  /**
   * Reads a form.
   *
   * @param contentType the request's, {@linkplain #isForm a form's}
   */
  static BodyFields read(byte[] body, String contentType) {
    Parameters type = Parameters.of(contentType);
    String boundary = type == null ? null : boundary(type);
    if (boundary != null) {
      FormBody form = new FormBody(body, boundary);
      if (form.readParts()) {
        long tokens = Math.min(form.textBytes / BYTES_PER_TOKEN, Integer.MAX_VALUE);
        return new BodyFields(form.fields, (int) tokens, form.models.names(), false);
      }
    }
    return BodyFields.NOTHING;
  }

  private static @Nullable String boundary(Parameters type) {
    String boundary = type.plain("boundary");
    String charset = type.plain("charset");
    boolean isUsual =
        type.value().equals(TYPE)
            && boundary != null
            && boundary.length() <= LONGEST_BOUNDARY
            && boundary.chars().allMatch(c -> Parameters.isUnquoted((char) c))
            && type.hasNoOther("boundary")
            && type.hasNoOther("charset")
            && (charset == null || CHARSETS.contains(charset.toLowerCase(Locale.ROOT)));
    return isUsual ? boundary : null;
  }

  /** Whether all is read in the one way that there is. */
  private boolean readParts() {
    int at = 0;
    while (has(at, LINE_BREAK)) {
      at += LINE_BREAK.length;
    }
    byte[] first = Arrays.copyOfRange(delimiter, LINE_BREAK.length, delimiter.length);
    if (!has(at, first)) {
      return false;
    }
    at += first.length;
    while (has(at, LINE_BREAK)) {
      int headersEnd = headersEnd(at);
      if (headersEnd < 0) {
        return false;
      }
      int start = headersEnd + HEADERS_END.length;
      int end = valueEnd(start);
      if (end < 0 || !readPart(at, headersEnd, start, end)) {
        return false;
      }
      at = end + delimiter.length;
    }
    return has(at, DASHES);
  }

  private int headersEnd(int from) {
    int last = Math.min(body.length - HEADERS_END.length, from + LONGEST_HEADERS);
    for (int i = from; i <= last; i++) {
      if (has(i, HEADERS_END)) {
        return i;
      }
    }
    return -1;
  }

  /** Where the boundary behind a value begins; negative if there is none. */
  private int valueEnd(int from) {
    for (int at = from; at <= body.length - delimiter.length; ) {
      int behind = at + delimiter.length;
      if (has(at, delimiter) && (has(behind, LINE_BREAK) || has(behind, DASHES))) {
        return at;
      }
      at += shifts[body[behind - 1] & 0xff];
    }
    return -1;
  }

  private boolean has(int at, byte[] text) {
    return at + text.length <= body.length
        && Arrays.equals(body, at, at + text.length, text, 0, text.length);
  }

  private boolean readPart(int headersStart, int headersEnd, int start, int end) {
    String headers = new String(body, headersStart, headersEnd - headersStart, ISO_8859_1);
    Parameters disposition = null;
    for (String line : headers.split("\r\n", 0)) {
      int colon = line.indexOf(':');
      if (line.isEmpty()) {
        continue;
      }
      if (colon <= 0 || !Parameters.isToken(line.substring(0, colon))) {
        return false; // folded ones begin with a space
      }
      String value = line.substring(colon + 1);
      switch (line.substring(0, colon).toLowerCase(Locale.ROOT)) {
        case "content-disposition" -> {
          Parameters found = Parameters.of(value);
          if (found == null || disposition != null) {
            return false;
          }
          disposition = found;
        }
        case "content-transfer-encoding" -> {
          if (!PLAIN_ENCODINGS.contains(value.strip().toLowerCase(Locale.ROOT))) {
            return false;
          }
        }
        default -> {}
      }
    }
    return disposition == null || keep(disposition, start, end);
  }

  private boolean keep(Parameters disposition, int start, int end) {
    if (!disposition.value().equals("form-data") || !disposition.hasNoOther("name")) {
      return false;
    }
    String name = disposition.plain("name");
    if (name == null) {
      return false;
    }
    if (disposition.texts().containsKey("filename")) {
      return true;
    }
    if (!disposition.hasNoOther("filename")) { // a file to some engines, a field to others
      return !NamedModels.isOne(name);
    }
    textBytes += end - start;
    String value = text(start, end);
    if (NamedModels.isOne(name)) {
      models.add(name, value);
    }
    if (BodyFields.NAMES.contains(name)) {
      fields.remove(name);
      if (value != null) {
        fields.put(name, value);
      }
    } else if (name.equals(BodyFields.STREAM) && value != null) {
      fields.put(name, TRUE.contains(value.toLowerCase(Locale.ROOT)));
    }
    return true;
  }

  /** The value; null if it is too long to name something, or no text. */
  private @Nullable String text(int start, int end) {
    if (end - start > LONGEST_VALUE) {
      return null;
    }
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(body, start, end - start)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /**
   * A header's value and its parameters, written as RFC 9110 (5.6.6) has them.
   *
   * @param value in lower case
   * @param texts by name in lower case
   * @param escaped names of those that have a backslash
   */
  private record Parameters(String value, Map<String, String> texts, Set<String> escaped) {

    private static final String TOKEN_SIGNS = "!#$%&'*+-.^_`|~";

    /** What no token may hold, but boundaries may (RFC 2046, 5.1.1), as some clients write them. */
    private static final String BOUNDARY_SIGNS = "()/:=?@,";

    /** Null if it is written otherwise, or a name is there twice. */
    static @Nullable Parameters of(String header) {
      int semicolon = header.indexOf(';');
      String value = (semicolon < 0 ? header : header.substring(0, semicolon)).strip();
      Map<String, String> texts = new HashMap<>();
      Set<String> escaped = new HashSet<>();
      for (int at = semicolon; at >= 0 && at < header.length(); ) {
        int equal = header.indexOf('=', at);
        if (header.charAt(at) == ';' && header.substring(at + 1).isBlank()) {
          break;
        }
        if (header.charAt(at) != ';' || equal < 0) {
          return null;
        }
        String name = header.substring(at + 1, equal).strip().toLowerCase(Locale.ROOT);
        StringBuilder text = new StringBuilder();
        int end = read(header, equal + 1, text);
        if (end < 0 || !isToken(name) || texts.put(name, text.toString()) != null) {
          return null;
        }
        if (header.substring(equal, end).indexOf('\\') >= 0) {
          escaped.add(name);
        }
        at = end;
        while (at < header.length() && (header.charAt(at) == ' ' || header.charAt(at) == '\t')) {
          at++;
        }
      }
      return new Parameters(value.toLowerCase(Locale.ROOT), texts, escaped);
    }

    /** Where the text that begins at {@code from} ends; negative if it is none. */
    private static int read(String header, int from, StringBuilder text) {
      if (from < header.length() && header.charAt(from) == '"') {
        for (int at = from + 1; at < header.length(); at++) {
          char c = header.charAt(at);
          if (c == '"') {
            return at + 1;
          }
          if (c < ' ' && c != '\t') {
            return -1;
          }
          if (c == '\\' && at + 1 < header.length()) {
            at++;
          }
          text.append(header.charAt(at));
        }
        return -1;
      }
      int at = from;
      while (at < header.length() && isUnquoted(header.charAt(at))) {
        text.append(header.charAt(at++));
      }
      return at == from ? -1 : at;
    }

    static boolean isToken(String text) {
      return !text.isEmpty() && text.chars().allMatch(c -> isTokenSign((char) c));
    }

    static boolean isUnquoted(char c) {
      return isTokenSign(c) || BOUNDARY_SIGNS.indexOf(c) >= 0;
    }

    private static boolean isTokenSign(char c) {
      return (c >= 'a' && c <= 'z')
          || (c >= 'A' && c <= 'Z')
          || (c >= '0' && c <= '9')
          || TOKEN_SIGNS.indexOf(c) >= 0;
    }

    /** The parameter, unless it is written with a backslash; null if it is not there. */
    @Nullable String plain(String name) {
      return escaped.contains(name) ? null : texts.get(name);
    }

    /** Whether it comes in no other way, as encoded or in pieces (RFC 2231). */
    boolean hasNoOther(String name) {
      return texts.keySet().stream().noneMatch(key -> key.startsWith(name + "*"));
    }
  }
}

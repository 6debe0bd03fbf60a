package dev.warmpath.tokenizer.image;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the engine's image library makes of an image file, from its headers alone: JPEG, PNG, WebP,
 * GIF and BMP.
 *
 * @param width in pixels, as the image is shown: a camera's orientation is applied
 * @param height the same
 * @param rgb whether its pixels are plain red, green and blue, so that the engine does not convert
 *     them
 */
public record ImageHeader(int width, int height, boolean rgb) {

  /*
   * No pixel is decoded, and each byte is looked at once, or twice in metadata. What a decoder might
   * take otherwise than these headers say is not known: lengths beyond the file's end, animated
   * PNGs, PNGs with one transparent colour (vLLM converts them since 0.33), compressed metadata.
   */

  /** Pillow refuses larger images. */
  private static final long MOST_PIXELS = 178_956_970;

  private static final int MOST_SIDE = 1 << 20;

  private static final int UNTURNED = 1;
  private static final int NOT_KNOWN = 0;

  /** The least orientation that swaps width and height. */
  private static final int FIRST_SWAPPING = 5;

  private static final int LAST_ORIENTATION = 8;

  private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  private static final byte[] EXIF = ascii("Exif\0\0");
  private static final byte[] XAP = ascii("http://ns.adobe.com/xap/1.0/\0");
  private static final byte[] XMP_KEYWORD = ascii("XML:com.adobe.xmp\0");
  private static final byte[] RAW_EXIF = ascii("Raw profile type exif\0");
  private static final Pattern XMP_ORIENTATION =
      Pattern.compile("tiff:Orientation(?:=\"|>)([0-9])");

  /** What this file's headers say; null if they are not known here, or lie. */
  public static @Nullable ImageHeader read(byte[] file) {
    Reader in = new Reader(file);
    ImageHeader header;
    if (in.has(0, new byte[] {(byte) 0xff, (byte) 0xd8, (byte) 0xff})) {
      header = in.jpeg();
    } else if (in.has(0, PNG)) {
      header = in.png();
    } else if (in.has(0, ascii("RIFF")) && in.has(8, ascii("WEBP"))) {
      header = in.webp();
    } else if (in.has(0, ascii("GIF87a")) || in.has(0, ascii("GIF89a"))) {
      header = in.gif();
    } else {
      header = in.has(0, ascii("BM")) ? in.bmp() : null;
    }
    return header == null || !header.isPossible() ? null : header;
  }

  private boolean isPossible() {
    return width > 0
        && height > 0
        && width <= MOST_SIDE
        && height <= MOST_SIDE
        && (long) width * height <= MOST_PIXELS;
  }

  private static @Nullable ImageHeader turned(int width, int height, boolean rgb, int orientation) {
    if (orientation == NOT_KNOWN) {
      return null;
    }
    boolean swaps = orientation >= FIRST_SWAPPING && orientation <= LAST_ORIENTATION;
    return swaps ? new ImageHeader(height, width, rgb) : new ImageHeader(width, height, rgb);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Reads one file. Numbers beyond its end are −1, which no length or size may be. */
  private static final class Reader {
    private final byte[] file;

    Reader(byte[] file) {
      this.file = file;
    }

    boolean has(long at, byte[] bytes) {
      return at >= 0
          && at + bytes.length <= file.length
          && Arrays.equals(file, (int) at, (int) at + bytes.length, bytes, 0, bytes.length);
    }

    private int byteAt(long at) {
      return at < 0 || at >= file.length ? -1 : file[(int) at] & 0xff;
    }

    private long big(long at, int bytes) {
      long value = 0;
      for (int i = 0; i < bytes; i++) {
        int next = byteAt(at + i);
        if (next < 0) {
          return -1;
        }
        value = value << 8 | next;
      }
      return value;
    }

    private long little(long at, int bytes) {
      long value = 0;
      for (int i = bytes - 1; i >= 0; i--) {
        int next = byteAt(at + i);
        if (next < 0) {
          return -1;
        }
        value = value << 8 | next;
      }
      return value;
    }

    private boolean isInside(long at, long length) {
      return at >= 0 && length >= 0 && at + length <= file.length;
    }

    private byte[] bytes(long at, long length) {
      return Arrays.copyOfRange(file, (int) at, (int) (at + length));
    }

    @Nullable ImageHeader jpeg() {
      long frame = -1;
      ByteArrayOutputStream exif = new ByteArrayOutputStream(0);
      byte[] xmp = null;
      long at = 2;
      while (at < file.length) {
        int code = byteAt(at) == 0xff ? byteAt(at + 1) : -1;
        if (code < 0 || code == 0xff) {
          at++; // junk between segments, or padding
          continue;
        }
        if (code == 0
            || (code >= 0xd0 && code <= 0xd9)
            || code == 0xc8
            || (code >= 0xf0 && code <= 0xfd)) {
          at += 2;
          continue;
        }
        long length = big(at + 2, 2);
        if (code < 0xc0 || length < 2 || !isInside(at + 2, length)) {
          return null;
        }
        long body = at + 4;
        if (code == 0xda) {
          return jpeg(frame, exif.toByteArray(), xmp);
        } else if (isFrame(code)) {
          frame = length >= 8 ? body : -1;
        } else if (code == 0xe1 && length - 2 >= EXIF.length && has(body, EXIF)) {
          exif.writeBytes(bytes(body + EXIF.length, length - 2 - EXIF.length));
        } else if (code == 0xe1 && length - 2 >= XAP.length && has(body, XAP)) {
          xmp = bytes(body + XAP.length, length - 2 - XAP.length);
        }
        at += 2 + length;
      }
      return null;
    }

    private static boolean isFrame(int code) {
      return code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xcc;
    }

    private @Nullable ImageHeader jpeg(long frame, byte[] exif, byte @Nullable [] xmp) {
      int components = byteAt(frame + 5);
      boolean known = components == 1 || components == 3 || components == 4;
      if (frame < 0 || byteAt(frame) != 8 || !known) {
        return null;
      }
      int orientation = orientation(exif.length == 0 ? null : exif, xmp);
      return turned((int) big(frame + 3, 2), (int) big(frame + 1, 2), components == 3, orientation);
    }

    @Nullable ImageHeader png() {
      if (big(8, 4) != 13 || !has(12, ascii("IHDR"))) {
        return null;
      }
      byte[] exif = null;
      byte[] xmp = null;
      boolean rgb = byteAt(25) == 2;
      long at = PNG.length;
      while (true) {
        long length = big(at, 4);
        if (!isInside(at + 8, length) || !isInside(at + 8 + length, 4)) {
          return null;
        }
        long body = at + 8;
        if (has(at + 4, ascii("IEND"))) {
          return turned((int) big(16, 4), (int) big(20, 4), rgb, orientation(exif, xmp));
        } else if (has(at + 4, ascii("eXIf"))) {
          exif = bytes(body, length);
        } else if (has(at + 4, ascii("iTXt")) && has(body, XMP_KEYWORD)) {
          if (byteAt(body + XMP_KEYWORD.length) != 0) {
            return null;
          }
          xmp = bytes(body, length);
        } else if (has(at + 4, ascii("acTL"))
            || (rgb && has(at + 4, ascii("tRNS")))
            || has(body, RAW_EXIF)) {
          return null;
        }
        at = body + length + 4;
      }
    }

    @Nullable ImageHeader gif() {
      long width = little(6, 2);
      long height = little(8, 2);
      long at = 13 + colours(byteAt(10));
      while (true) {
        int kind = byteAt(at);
        if (kind == 0x21) {
          at = afterBlocks(at + 2);
        } else if (kind == 0x2c) {
          // a first picture that reaches beyond the screen makes the screen larger
          long right = little(at + 1, 2) + little(at + 5, 2);
          long bottom = little(at + 3, 2) + little(at + 7, 2);
          return isInside(at, 10)
              ? new ImageHeader((int) Math.max(width, right), (int) Math.max(height, bottom), false)
              : null;
        } else {
          return null;
        }
      }
    }

    private static long colours(int flags) {
      return flags < 0 || (flags & 0x80) == 0 ? 0 : 3L << ((flags & 7) + 1);
    }

    private long afterBlocks(long from) {
      long at = from;
      for (int length = byteAt(at); length > 0; length = byteAt(at)) {
        at += 1 + length;
      }
      return at + 1;
    }

    @Nullable ImageHeader bmp() {
      long size = little(14, 4);
      if (size == 12) {
        return bmp(little(18, 2), little(20, 2), little(24, 2), 0);
      }
      boolean known =
          size == 40 || size == 52 || size == 56 || size == 64 || size == 108 || size == 124;
      if (!known || !isInside(14, size)) {
        return null;
      }
      long rows = little(22, 4);
      long height = byteAt(25) == 0xff ? (1L << 32) - rows : rows;
      long compression = little(30, 4);
      long bits = little(28, 2);
      long alpha = compression == 3 && size >= 56 ? little(66, 4) : 0;
      boolean masked = compression == 3 && little(54, 4) == 0 && alpha == 0;
      return compression > 3 ? null : bmp(little(18, 4), height, bits, masked ? -1 : alpha);
    }

    /** With an alpha mask, −1 for one that is taken to be there, 32 bits have transparency. */
    private static @Nullable ImageHeader bmp(long width, long height, long bits, long alpha) {
      boolean known = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
      if (!known || width > MOST_SIDE || height > MOST_SIDE) {
        return null;
      }
      boolean rgb = bits >= 16 && !(bits == 32 && alpha != 0);
      return new ImageHeader((int) width, (int) height, rgb);
    }

    @Nullable ImageHeader webp() {
      if (has(12, ascii("VP8 "))) {
        return lossy(20, false);
      }
      if (has(12, ascii("VP8L"))) {
        return lossless(20);
      }
      return has(12, ascii("VP8X")) && little(16, 4) == 10 ? extended() : null;
    }

    private @Nullable ImageHeader lossy(long at, boolean alpha) {
      boolean keyFrame = has(at + 3, new byte[] {(byte) 0x9d, 0x01, 0x2a});
      return keyFrame && isInside(at, 10)
          ? new ImageHeader(
              (int) little(at + 6, 2) & 0x3fff, (int) little(at + 8, 2) & 0x3fff, !alpha)
          : null;
    }

    private @Nullable ImageHeader lossless(long at) {
      long bits = little(at + 1, 4);
      return byteAt(at) == 0x2f && bits >= 0
          ? new ImageHeader(
              (int) (bits & 0x3fff) + 1, (int) (bits >> 14 & 0x3fff) + 1, (bits >> 28 & 1) == 0)
          : null;
    }

    private @Nullable ImageHeader extended() {
      int flags = byteAt(20);
      boolean alpha = (flags & 0x10) != 0;
      boolean animated = (flags & 0x02) != 0;
      int width = (int) little(24, 3) + 1;
      int height = (int) little(27, 3) + 1;
      ImageHeader picture = animated ? new ImageHeader(width, height, !alpha) : null;
      byte[] exif = null;
      byte[] xmp = null;
      long at = 30;
      while (isInside(at, 8)) {
        long length = little(at + 4, 4);
        if (!isInside(at + 8, length)) {
          return null;
        }
        if (has(at, ascii("VP8 ")) && picture == null) {
          picture = lossy(at + 8, alpha);
        } else if (has(at, ascii("VP8L")) && picture == null) {
          picture = lossless(at + 8);
        } else if (has(at, ascii("ALPH"))) {
          alpha = true;
        } else if (has(at, ascii("EXIF")) && exif == null) {
          exif = bytes(at + 8, length);
        } else if (has(at, ascii("XMP ")) && xmp == null) {
          xmp = bytes(at + 8, length);
        }
        at += 8 + length + (length & 1);
      }
      if (picture == null || picture.width != width || picture.height != height) {
        return null;
      }
      return turned(width, height, picture.rgb, orientation(exif, xmp));
    }
  }

  /**
   * The orientation that metadata ask for, 1 for none; {@link #NOT_KNOWN} if it is written in an
   * unusual way.
   *
   * @param exif a TIFF header with its tags, or null
   */
  private static int orientation(byte @Nullable [] exif, byte @Nullable [] xmp) {
    if (exif != null) {
      boolean prefixed = new Reader(exif).has(0, EXIF);
      int from = prefixed ? EXIF.length : 0;
      Integer tag = orientation(new Reader(Arrays.copyOfRange(exif, from, exif.length)));
      if (tag != null) {
        return tag;
      }
    }
    if (xmp != null) {
      Matcher found = XMP_ORIENTATION.matcher(new String(xmp, StandardCharsets.ISO_8859_1));
      return found.find() ? Math.max(UNTURNED, found.group(1).charAt(0) - '0') : UNTURNED;
    }
    return UNTURNED;
  }

  /** The tag's value; null if there is none. */
  private static @Nullable Integer orientation(Reader tiff) {
    boolean little = tiff.has(0, new byte[] {'I', 'I', 42, 0});
    if (!little && !tiff.has(0, new byte[] {'M', 'M', 0, 42})) {
      return null;
    }
    long tags = little ? tiff.little(4, 4) : tiff.big(4, 4);
    long count = little ? tiff.little(tags, 2) : tiff.big(tags, 2);
    for (long i = 0; i < count; i++) {
      long at = tags + 2 + 12 * i;
      long tag = little ? tiff.little(at, 2) : tiff.big(at, 2);
      if (tag < 0) {
        return null;
      }
      if (tag == 0x112) {
        boolean isShort = (little ? tiff.little(at + 2, 2) : tiff.big(at + 2, 2)) == 3;
        boolean isOne = (little ? tiff.little(at + 4, 4) : tiff.big(at + 4, 4)) == 1;
        long value = little ? tiff.little(at + 8, 2) : tiff.big(at + 8, 2);
        return isShort && isOne && value >= 0 ? Math.max(UNTURNED, (int) value) : NOT_KNOWN;
      }
    }
    return null;
  }
}

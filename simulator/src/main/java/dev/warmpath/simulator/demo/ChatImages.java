package dev.warmpath.simulator.demo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;

/**
 * Made-up images as {@code data:} URLs: whole files that any decoder reads, of all formats, colour
 * modes and orientations that are named exactly. The same random state gives the same images.
 *
 * <p>Confined to one thread.
 */
final class ChatImages {

  private static final int LEAST_PIXELS = 20;
  private static final int MOST_PIXELS = 900;
  private static final int SHARED = 6;
  private static final int SHARED_WIDTH = 320;
  private static final int SHARED_HEIGHT = 240;

  /** Codes of a GIF that are written until its decoder is reset, so that they keep nine bits. */
  private static final int GIF_RUN = 250;

  private static final int MOST_GIF_PIXELS = 200;
  private static final int JPEG_LEVELS = 256;

  private final Random random;

  ChatImages(long seed) {
    random = new Random(seed);
  }

  /** Those of the user of one chat, under one seed of a load. */
  static ChatImages ofUser(long seed, int chat) {
    return new ChatImages(seed * 31 + 15_485_863L * (chat + 1));
  }

  /** A number from 1 to this one. */
  int count(int most) {
    return 1 + random.nextInt(most);
  }

  /**
   * So many images. Each second one is of a few that all chats share; these have one size, so that
   * only their bytes tell them apart.
   */
  List<String> next(long seed, int count) {
    List<String> urls = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      urls.add(
          random.nextBoolean()
              ? new ChatImages(1_000_003 * seed + random.nextInt(SHARED)).shared()
              : own());
    }
    return urls;
  }

  private String shared() {
    return url("image/png", png(SHARED_WIDTH, SHARED_HEIGHT, 2));
  }

  private String own() {
    int width = LEAST_PIXELS + random.nextInt(MOST_PIXELS - LEAST_PIXELS + 1);
    int height = LEAST_PIXELS + random.nextInt(MOST_PIXELS - LEAST_PIXELS + 1);
    return switch (random.nextInt(5)) {
      case 0 -> url("image/jpeg", jpeg(width, height, random.nextInt(4) == 0 ? 1 : 3));
      case 1 -> url("image/webp", webp(width, height));
      case 2 ->
          url(
              "image/gif",
              gif(1 + width % MOST_GIF_PIXELS + 19, 1 + height % MOST_GIF_PIXELS + 19));
      case 3 -> url("image/bmp", bmp(Math.min(width, 300), Math.min(height, 300)));
      default -> url("image/png", png(width, height, new int[] {0, 2, 3, 4, 6}[random.nextInt(5)]));
    };
  }

  private static String url(String type, byte[] file) {
    return "data:" + type + ";base64," + Base64.getEncoder().encodeToString(file);
  }

  /**
   * Grey (0), RGB (2), by palette (3), grey with alpha (4) or RGB with alpha (6).
   *
   * <p>Sides are not longer than 200 times the other one, which models refuse.
   */
  private byte[] png(int width, int height, int colours) {
    Bytes out = new Bytes().add(0x89).text("PNG\r\n").add(0x1a).text("\n");
    chunk(out, "IHDR", new Bytes().big(width, 4).big(height, 4).add(8, colours, 0, 0, 0));
    if (colours == 3) {
      byte[] palette = new byte[3 * 256];
      random.nextBytes(palette);
      chunk(out, "PLTE", new Bytes().raw(palette));
      if (random.nextBoolean()) {
        chunk(out, "tRNS", new Bytes().add(0, 128));
      }
    } else if (random.nextInt(3) == 0 && colours != 2) {
      chunk(out, "eXIf", exif());
    }
    int channels = colours == 2 ? 3 : colours == 4 ? 2 : colours == 6 ? 4 : 1;
    chunk(out, "IDAT", new Bytes().raw(deflated(pixels(width, height, channels))));
    chunk(out, "IEND", new Bytes());
    return out.bytes();
  }

  /** Rows of pixels with the filter byte of each: stripes, and some noise that tells them apart. */
  private byte[] pixels(int width, int height, int channels) {
    byte[] rows = new byte[height * (1 + width * channels)];
    int at = 0;
    for (int y = 0; y < height; y++) {
      at++;
      byte colour = (byte) (y / 8 * 31);
      for (int x = 0; x < width * channels; x++) {
        rows[at++] = colour;
      }
    }
    for (int i = 0; i < 8; i++) {
      int y = random.nextInt(height);
      rows[y * (1 + width * channels) + 1 + random.nextInt(width * channels)] =
          (byte) random.nextInt();
    }
    return rows;
  }

  private static byte[] deflated(byte[] data) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (DeflaterOutputStream deflater = new DeflaterOutputStream(out)) {
      deflater.write(data);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  private static void chunk(Bytes out, String name, Bytes data) {
    byte[] named = new Bytes().text(name).raw(data.bytes()).bytes();
    CRC32 sum = new CRC32();
    sum.update(named);
    out.big(named.length - 4, 4).raw(named).big(sum.getValue(), 4);
  }

  /** An orientation and nothing else. */
  private Bytes exif() {
    return new Bytes()
        .text("MM\0*\0\0\0\b\0\1")
        .big(0x0112, 2)
        .big(3, 2)
        .big(1, 4)
        .big(1 + random.nextInt(8), 2)
        .big(0, 6);
  }

  /** Baseline, blocks of one colour each: no coefficient but the first. */
  private byte[] jpeg(int width, int height, int components) {
    Bytes out = new Bytes().add(0xff, 0xd8);
    if (random.nextInt(3) == 0) {
      segment(out, 0xe1, new Bytes().text("Exif\0\0").raw(exif().bytes()));
    }
    byte[] eights = new byte[64];
    Arrays.fill(eights, (byte) 8);
    segment(out, 0xdb, new Bytes().add(0).raw(eights));
    Bytes frame = new Bytes().add(8).big(height, 2).big(width, 2).add(components);
    Bytes scan = new Bytes().add(components);
    for (int i = 1; i <= components; i++) {
      frame.add(i, 0x11, 0);
      scan.add(i, 0);
    }
    segment(out, 0xc0, frame);
    // Twelve sizes of a difference in four bits each, and the end of a block in one bit.
    segment(out, 0xc4, new Bytes().add(0, 0, 0, 0, 12).raw(new byte[12]).counted(12));
    segment(out, 0xc4, new Bytes().add(0x10, 1).raw(new byte[15]).add(0));
    segment(out, 0xda, scan.add(0, 63, 0));
    Bits bits = new Bits(out, true);
    int[] last = new int[components];
    int blocks = ((width + 7) / 8) * ((height + 7) / 8);
    for (int block = 0; block < blocks; block++) {
      for (int i = 0; i < components; i++) {
        int level = block % 16 == 0 ? random.nextInt(JPEG_LEVELS) - JPEG_LEVELS / 2 : last[i];
        int difference = level - last[i];
        last[i] = level;
        int size = 32 - Integer.numberOfLeadingZeros(Math.abs(difference));
        bits.put(size, 4);
        bits.put(difference < 0 ? difference + (1 << size) - 1 : difference, size);
        bits.put(0, 1);
      }
    }
    bits.end(1);
    return out.add(0xff, 0xd9).bytes();
  }

  private static void segment(Bytes out, int marker, Bytes data) {
    out.add(0xff, marker).big(data.bytes().length + 2, 2).raw(data.bytes());
  }

  /** Lossless, of one colour: every code has one symbol, and no pixel takes a bit. */
  private byte[] webp(int width, int height) {
    Bytes data = new Bytes().add(0x2f);
    boolean alpha = random.nextBoolean();
    Bits bits = new Bits(data, false);
    bits.putLow(width - 1, 14);
    bits.putLow(height - 1, 14);
    bits.putLow(alpha ? 1 : 0, 1);
    bits.putLow(0, 3); // version
    bits.putLow(0, 3); // no transform, no colour cache, one group of codes
    for (int channel = 0; channel < 4; channel++) {
      boolean opaque = channel == 3 && !alpha;
      bits.putLow(0b101, 3); // a simple code of one symbol of eight bits
      bits.putLow(opaque ? 255 : random.nextInt(256), 8);
    }
    bits.putLow(0b0001, 4); // a simple code of one symbol of one bit, 0
    bits.end(0);
    int length = data.bytes().length;
    Bytes out = new Bytes().text("WEBPVP8L").little(length, 4).raw(data.bytes());
    out.raw(new byte[length & 1]);
    return new Bytes().text("RIFF").little(out.bytes().length, 4).raw(out.bytes()).bytes();
  }

  private byte[] gif(int width, int height) {
    byte[] palette = new byte[3 * 256];
    random.nextBytes(palette);
    Bytes out = new Bytes().text("GIF89a").little(width, 2).little(height, 2).add(0xf7, 0, 0);
    out.raw(palette);
    if (random.nextBoolean()) {
      out.add(0x21, 0xf9, 4, 1, 0, 0, 7, 0); // with a transparent colour
    }
    out.add(0x2c).little(0, 4).little(width, 2).little(height, 2).add(0, 8);
    Bytes codes = new Bytes();
    Bits bits = new Bits(codes, false);
    for (int i = 0; i < width * height; i++) {
      if (i % GIF_RUN == 0) {
        bits.putLow(256, 9);
      }
      bits.putLow(i / width / 4 % 256, 9);
    }
    bits.putLow(257, 9);
    bits.end(0);
    byte[] all = codes.bytes();
    for (int at = 0; at < all.length; at += 255) {
      int length = Math.min(255, all.length - at);
      out.add(length).raw(Arrays.copyOfRange(all, at, at + length));
    }
    return out.add(0, 0x3b).bytes();
  }

  private byte[] bmp(int width, int height) {
    int row = (3 * width + 3) / 4 * 4;
    byte[] pixels = new byte[row * height];
    for (int i = 0; i < 8; i++) {
      pixels[random.nextInt(height) * row + random.nextInt(3 * width)] = (byte) random.nextInt();
    }
    Bytes out = new Bytes().text("BM").little(54L + pixels.length, 4).little(0, 4).little(54, 4);
    out.little(40, 4).little(width, 4).little(height, 4).little(1, 2).little(24, 2).little(0, 4);
    return out.little(pixels.length, 4).raw(new byte[16]).raw(pixels).bytes();
  }

  /** A file that grows. */
  private static final class Bytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Bytes add(int... values) {
      for (int value : values) {
        out.write(value);
      }
      return this;
    }

    /** The numbers from 0, a byte each. */
    Bytes counted(int count) {
      for (int i = 0; i < count; i++) {
        out.write(i);
      }
      return this;
    }

    Bytes raw(byte[] bytes) {
      out.writeBytes(bytes);
      return this;
    }

    Bytes text(String text) {
      return raw(text.getBytes(ISO_8859_1));
    }

    Bytes big(long value, int bytes) {
      return raw(Arrays.copyOfRange(ByteBuffer.allocate(8).putLong(value).array(), 8 - bytes, 8));
    }

    Bytes little(long value, int bytes) {
      for (int i = 0; i < bytes; i++) {
        out.write((int) (value >> (8 * i)));
      }
      return this;
    }

    byte[] bytes() {
      return out.toByteArray();
    }
  }

  /** Bits at the end of a file, at most 16 at a time. */
  private static final class Bits {
    private final Bytes out;

    /** As in JPEG, where 0xff is followed by 0. */
    private final boolean isStuffed;

    private int held;
    private int count;

    Bits(Bytes out, boolean isStuffed) {
      this.out = out;
      this.isStuffed = isStuffed;
    }

    /** The first bit is the highest one. */
    void put(int value, int bits) {
      for (int i = bits - 1; i >= 0; i--) {
        held = held << 1 | (value >> i & 1);
        flush(++count);
      }
    }

    /** The first bit is the lowest one. */
    void putLow(int value, int bits) {
      for (int i = 0; i < bits; i++) {
        held |= (value >> i & 1) << count;
        flush(++count);
      }
    }

    /** Fills the last byte with this bit. */
    void end(int bit) {
      while (count > 0) {
        if (isStuffed) {
          put(bit, 1);
        } else {
          putLow(bit, 1);
        }
      }
    }

    private void flush(int full) {
      if (full == 8) {
        out.add(held & 0xff);
        if (isStuffed && (held & 0xff) == 0xff) {
          out.add(0);
        }
        held = 0;
        count = 0;
      }
    }
  }
}

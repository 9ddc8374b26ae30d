# Makes the databases for make.sh: make.rb WORK VERSION, with a schema in WORK/VERSION.rb.
work, version = ARGV
$LOAD_PATH.unshift("#{work}/lockbox/lib")
require "lockbox" # before Active Record, which it would join, and whose version it would not like
require "active_record"
require "bcrypt"
require "json"
require "digest"
require "fileutils"

MASTER_KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
PREVIOUS_KEY = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
DEFAULT_KEY = "749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f"

# Lockbox itself encrypts each value, in a model with Password Pusher's attributes. Its check of
# Active Record's version is passed by.
require "active_support/core_ext/object"
ActiveRecord::Base.extend(Lockbox::Model)
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
MODELS = {"pushes" => %i[payload note passphrase], "passwords" => %i[payload note passphrase], "file_pushes" => %i[payload note passphrase],
          "urls" => %i[payload note passphrase], "users" => %i[otp_secret]}.to_h do |table, attributes|
  ActiveRecord::Base.connection.create_table(table) { |t| attributes.each { |a| t.text "#{a}_ciphertext" } }
  [table, Class.new(ActiveRecord::Base) { self.table_name = table; has_encrypted(*attributes) }]
end

$plain = []
def sealed(table, id, attribute, text, master = MASTER_KEY)
  $plain << {table: table, id: id, attribute: attribute, text: text}
  Lockbox.master_key = master
  MODELS.fetch(table).send("generate_#{attribute}_ciphertext", text)
end

ODD = "It's a \\ test;\n-- no comment\ttab \"quoted\" \u00fc \u{1f389}\r\n/* $$ */ \\n \\N '' E'x' );"
def at(n) = Time.utc(2026, 8, 1, 10, n, 30, 123_456)
def second(n) = Time.utc(2026, 8, 1, 10, n, 30) # for columns with precision: nil
USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64) \\ 'quoted'"

users = [
  {id: 1, email: "ann@example.com", encrypted_password: BCrypt::Password.create("correct horse battery", cost: 4).to_s,
   authentication_token: "Zx_9yQm3v-8TfLkWcRbP", admin: true, created_at: second(0), updated_at: second(1), preferred_language: "de"},
  {id: 2, email: "o'hara@example.com", encrypted_password: BCrypt::Password.create("another pass phrase", cost: 4).to_s,
   authentication_token: nil, admin: false, created_at: second(2), updated_at: second(2)},
]
storage = [[1, "abcdef0123456789abcdefghij12", "r\u00e9sum\u00e9 'final'.txt", "text/plain", "What the file says.\n"],
           [2, "zz9876543210zyxwvutsrqpong34", "data.bin", "application/octet-stream", (0..255).map(&:chr).join.b * 4]]
blobs = storage.map do |id, key, name, type, content|
  path = "storage/#{key[0, 2]}/#{key[2, 2]}/#{key}"
  FileUtils.mkdir_p(File.dirname(path))
  File.binwrite(path, content)
  {id: id, key: key, filename: name, content_type: type, metadata: '{"identified":true,"analyzed":true}', byte_size: content.bytesize,
   checksum: Digest::MD5.base64digest(content), created_at: second(3), service_name: "local"}
end

def push(table, id, token, payload, kind: nil, note: "", passphrase: "", master: MASTER_KEY, **rest)
  row = {id: id, url_token: token, expire_after_days: 7, expire_after_views: 5, expired: false, deletable_by_viewer: true,
         retrieval_step: false, expired_on: nil, user_id: nil, name: "", created_at: at(id), updated_at: at(id),
         payload_ciphertext: sealed(table, id, "payload", payload, master), note_ciphertext: sealed(table, id, "note", note, master),
         passphrase_ciphertext: sealed(table, id, "passphrase", passphrase, master)}
  row[:kind] = kind if kind
  row.merge(rest)
end

tables = {users: users, active_storage_blobs: blobs}
if version == "v2"
  users[0].merge!(otp_required_for_login: true, otp_secret_ciphertext: sealed("users", 1, "otp_secret", "JBSWY3DPEHPK3PXP"),
                  otp_backup_code_digests: '["00ff"]', last_otp_timestep: 1_785_578_430)
  users[1].merge!(otp_required_for_login: nil, otp_secret_ciphertext: nil, otp_backup_code_digests: nil, last_otp_timestep: nil)
  tables[:pushes] = [
    push("pushes", 1, "ab12-cd34_ef", ODD, kind: 0, note: "a note\nof two lines", passphrase: "pass phrase \u00fc", user_id: 1, name: ODD, retrieval_step: true),
    push("pushes", 2, "z9y8x7w6v5u4t3s2r1q", "", kind: 1, user_id: 1, expire_after_days: 30, expire_after_views: 100),
    push("pushes", 3, "url-token-00", "https://example.com/a?b=c#d", kind: 2, deletable_by_viewer: nil, user_id: 2),
    push("pushes", 4, "qr_token_0000000", "WIFI:T:WPA;S:net;P:pass;;", kind: 3, deletable_by_viewer: false),
    push("pushes", 5, "expired-token", nil, kind: 0, passphrase: nil, expired: true, expired_on: at(20), user_id: 1, name: "gone"),
    push("pushes", 6, "older-key-00", "under the previous key", kind: 0, master: PREVIOUS_KEY),
    push("pushes", 7, "default-key-0", "under the default key", kind: 0, master: DEFAULT_KEY),
    push("pushes", 8, "long-token-00", "x" * 1000 + "\n" * 3, kind: 0),
  ]
  kinds = [[1, 0, 1], [1, 1, nil], [1, 1, nil], [1, 4, nil], [1, 6, 1], [2, 0, 1], [2, 1, 2], [5, 0, 1], [5, 1, nil], [5, 3, 1], [5, 2, nil], [1, 5, 1], [1, 7, 1], [1, 8, 1]]
  tables[:audit_logs] = kinds.each_with_index.map do |(push, kind, user), i|
    {id: i + 1, push_id: push, kind: kind, user_id: user, ip: i.even? ? "203.0.113.7" : "2001:db8::7", user_agent: USER_AGENT,
     referrer: i.zero? ? "" : "https://example.com/?q='x'", created_at: at(20 + i), updated_at: at(20 + i)}
  end
  tables[:active_storage_attachments] = [[1, 1], [2, 2]].map { |id, blob| {id: id, name: "files", record_type: "Push", record_id: 2, blob_id: blob, created_at: second(3)} }
else
  legacy = ->(row) { row.merge(deleted: false) }
  tables[:passwords] = [legacy.(push("passwords", 1, "old-text-0000", "an old text", user_id: 1)),
                        legacy.(push("passwords", 2, "old-gone-0000", nil, passphrase: nil, expired: true, expired_on: at(9))).merge(deleted: true)]
  tables[:file_pushes] = [legacy.(push("file_pushes", 1, "old-file-0000", "with words", user_id: 1, passphrase: "open"))]
  tables[:urls] = [legacy.(push("urls", 1, "old-url-00000", "https://example.org/", user_id: 2)).except(:deletable_by_viewer)]
  views = [[:password_id, 1, 0, true], [:password_id, 1, 0, false], [:password_id, 2, 1, true], [:file_push_id, 1, 0, true], [:url_id, 1, 0, true], [:url_id, 1, 2, nil]]
  tables[:views] = views.each_with_index.map do |(column, push, kind, ok), i|
    {id: i + 1, password_id: nil, file_push_id: nil, url_id: nil, kind: kind, successful: ok, ip: "203.0.113.9", user_agent: USER_AGENT, referrer: nil,
     user_id: nil, created_at: at(10 + i), updated_at: at(10 + i), column => push}
  end
  tables[:active_storage_attachments] = [[1, 1]].map { |id, blob| {id: id, name: "files", record_type: "FilePush", record_id: 1, blob_id: blob, created_at: second(3)} }
end

schema = File.read("#{work}/#{version}.rb").sub(/ActiveRecord::Schema\[[\d.]+\]/, "ActiveRecord::Schema")
[{adapter: "sqlite3", database: "#{work}/#{version}.sqlite3"},
 {adapter: "postgresql", host: "#{work}/pg", username: "postgres", database: version},
 {adapter: "mysql2", socket: "#{work}/my/socket", username: "root", database: version, encoding: "utf8mb4"}].each do |config|
  unless config[:adapter] == "sqlite3"
    ActiveRecord::Base.establish_connection(config.merge(database: config[:adapter] == "mysql2" ? nil : "postgres"))
    ActiveRecord::Base.connection.create_database(version)
  end
  ActiveRecord::Base.establish_connection(config)
  ActiveRecord::Schema.verbose = false
  text = schema
  # Keys of different sizes cannot refer to each other in MySQL; migrations would have made them alike.
  text = text.gsub(/t\.integer "(\w+_id)"/, 't.bigint "\1"').gsub(/^ *add_foreign_key.*$/, "")
               .gsub(/(t\.datetime "\w+")(?!, precision)/, '\1, precision: 6') if config[:adapter] == "mysql2"
  eval(text)
  tables.each do |table, rows|
    model = Class.new(ActiveRecord::Base) { self.table_name = table; self.inheritance_column = nil }
    rows.group_by(&:keys).each_value { |alike| model.insert_all!(alike) }
  end
end
File.write("#{version}.plain.json", JSON.pretty_generate($plain) + "\n")

/** The most common passwords of ten characters and more in published leaks, in lower case. */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  12345678910 123456789a 123456789q 1234567891 a123456789 aa123456789 123123123123 123456123456 1234512345
  1q2w3e4r5t 1q2w3e4r5t6y q1w2e3r4t5 q1w2e3r4t5y6 1qaz2wsx3edc 1qazxsw23edc zaq12wsxcde3 zaq1zaq1zaq1 qazwsxedcrfv
  qwertyuiop qwertyuiop1 qwertyuiop123 qwerty1234 qwerty12345 qwerty123456 qwertyqwerty qwe123qwe123 1234qwerasdf
  asdfghjkl1 asdfghjkl123 asdfasdfasdf asdf123456 zxcvbnm123 zxcvbnm1234 azertyuiop qwertzuiop poiuytrewq
  password01 password10 password11 password12 password123 password1234 password12345 password123456 passwordpassword
  mypassword mypassword1 passw0rd123 p@ssword123 p@ssw0rd123 motdepasse passwort123 contrasena
  abc1234567 abc123456789 abcd123456 abcde12345 abcdef1234 abc123abc123 abcdefg123
  iloveyou12 iloveyou123 iloveyou1234 iloveyouforever ilovemyself ilovejesus
  administrator administrator1 adminadmin admin12345 admin123456 adminadmin1 rootroot123 changeme12 changeme123 changeme1234
  welcome123 welcome1234 welcome12345 letmein123 letmein1234 secret1234 supersecret topsecret1 default123 guest12345
  test123456 testtest12 testtest123 temporary1 temppassword computer123 internet123 samsung123 whatever123
  sunshine123 princess123 superman123 football123 football12 baseball123 basketball basketball1 skateboard liverpool1
  liverpool123 manchester manchester1 barcelona1 realmadrid pokemon123 starwars123 minecraft1 minecraft123 dragonball
  strawberry strawberry1 chocolate1 butterfly1 cheesecake blink182blink christopher alexander1 elizabeth1 charlotte1
  stephanie1 jacqueline michelle12 jennifer12 jennifer123 michael123 anthony123 jessica123 charlie123 ashley1234
  monkey1234 dragon1234 master1234 shadow1234 hunter2hunter2 trustno1trustno1 correcthorsebatterystaple
  `
    .trim()
    .split(/\s+/),
)
